/**
 * The hold before the first purchase in production: a pause of each kind of purchase, whose row is also the record of
 * how it ended. A kind has at most one; once that was released, by the product or by an operator, it is not set again.
 */
import { and, desc, eq, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { PauseRow } from '#db/gate/pauses.ts';
import { capabilityProfiles, gatePauses } from '#db/schema.ts';
import { workTable } from '#db/work/kinds.ts';
import { notLookedYet, type FirstContact } from '#domain/gate/first-contact.ts';
import { KINDS, PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import { boughtStatusesOf } from '#domain/work/lifecycle.ts';
import { addPause, releasePause } from '#fulfilment/gate/pauses.ts';

const ORIGIN = 'first_contact';
/** Who sets and releases these pauses, where no person does. */
export const FIRST_CONTACT_ACTOR = 'worker';

/** What is known of a kind of purchase. */
export type FirstContactState =
  | { readonly kind: 'held'; readonly pause: PauseRow }
  /** Our own records show it: a confirmed profile, or a purchase. */
  | { readonly kind: 'recorded'; readonly evidence: string }
  | { readonly kind: 'released'; readonly by: string; readonly reason: string; readonly at: Date }
  /** Nothing shows it and nothing holds it: so it is before the first start of a worker. */
  | { readonly kind: 'unknown' };

/** By kind of purchase, in the order in which they are shown. */
export async function readFirstContact(db: Executor): Promise<ReadonlyMap<PurchaseKind, FirstContactState>> {
  const states = new Map<PurchaseKind, FirstContactState>();
  for (const kind of PURCHASE_KINDS) states.set(kind, await stateOf(db, kind));
  return states;
}

async function stateOf(db: Executor, kind: PurchaseKind): Promise<FirstContactState> {
  const [pause] = await db
    .select()
    .from(gatePauses)
    .where(and(eq(gatePauses.origin, ORIGIN), eq(gatePauses.kind, kind)))
    .orderBy(desc(gatePauses.id))
    .limit(1);
  if (pause !== undefined && pause.releasedAt === null) return { kind: 'held', pause };
  if (pause !== undefined && pause.releasedAt !== null) {
    return { kind: 'released', by: pause.releasedBy ?? '', reason: pause.releaseReason ?? '', at: pause.releasedAt };
  }
  const evidence = await ownEvidence(db, kind);
  return evidence === undefined ? { kind: 'unknown' } : { kind: 'recorded', evidence };
}

/** What our own records show. @returns undefined when they show nothing. */
async function ownEvidence(db: Executor, kind: PurchaseKind): Promise<string | undefined> {
  const [profile] = await db
    .select()
    .from(capabilityProfiles)
    .where(and(eq(capabilityProfiles.environment, 'sandbox'), isNotNull(capabilityProfiles.confirmedAt)))
    .orderBy(desc(capabilityProfiles.id))
    .limit(1);
  if (profile?.findings[KINDS[kind].seenTrait] === true) {
    return `The capability profile ${profile.id}, confirmed by ${profile.confirmedBy ?? '?'}, says so.`;
  }
  const table = workTable(kind);
  const [bought] = await db
    .select({ id: table.id })
    .from(table)
    .where(inArray(table.status, boughtStatusesOf(kind)))
    .limit(1);
  return bought === undefined ? undefined : `The ${KINDS[kind].noun} ${bought.id} was bought.`;
}

/**
 * Puts a pause in place for each kind of purchase that nothing is known of. Several processes may do so at once.
 *
 * @returns the pauses that are new.
 */
export async function holdUntilSeen(tx: Executor, now: Date): Promise<PauseRow[]> {
  await serialise(tx);
  const made: PauseRow[] = [];
  for (const [kind, state] of await readFirstContact(tx)) {
    if (state.kind !== 'unknown') continue;
    const asked = {
      origin: ORIGIN,
      kind,
      failureClass: null,
      reason: notLookedYet(kind),
      actor: FIRST_CONTACT_ACTOR,
    } as const;
    made.push((await addPause(tx, asked, now)).pause);
  }
  return made;
}

/** The kinds of purchase that are held. */
export async function heldKinds(db: Executor): Promise<PurchaseKind[]> {
  const states = await readFirstContact(db);
  return PURCHASE_KINDS.filter((kind) => states.get(kind)?.kind === 'held');
}

/** Releases the pauses of the kinds that our own records show by now. @returns those kinds. */
export async function releaseRecorded(tx: Executor, actor: string, now: Date): Promise<PurchaseKind[]> {
  await serialise(tx);
  const released: PurchaseKind[] = [];
  for (const kind of await heldKinds(tx)) {
    const evidence = await ownEvidence(tx, kind);
    if (
      evidence !== undefined &&
      (await applyFirstContact(tx, kind, { kind: 'seen', evidence }, actor, now)) === 'released'
    ) {
      released.push(kind);
    }
  }
  return released;
}

/** What became of the pause of a kind; `unchanged` also when there is none any more. */
export type AppliedFirstContact = 'released' | 'reworded' | 'unchanged';

/** Releases the pause of a kind whose shapes were seen, or has it say what is missing now. */
export async function applyFirstContact(
  tx: Executor,
  kind: PurchaseKind,
  found: FirstContact,
  actor: string,
  now: Date,
): Promise<AppliedFirstContact> {
  const inForce = and(eq(gatePauses.origin, ORIGIN), eq(gatePauses.kind, kind), isNull(gatePauses.releasedAt));
  if (found.kind === 'unseen') {
    const reworded = await tx
      .update(gatePauses)
      .set({ reason: found.reason })
      .where(and(inForce, ne(gatePauses.reason, found.reason)))
      .returning({ id: gatePauses.id });
    return reworded.length > 0 ? 'reworded' : 'unchanged';
  }
  const [pause] = await tx.select().from(gatePauses).where(inForce).for('update');
  if (pause === undefined) return 'unchanged';
  await releasePause(tx, pause.id, { actor, reason: found.evidence }, now);
  return 'released';
}

/** Serialises concurrent callers with an advisory lock: a pause that another released meanwhile stays released. */
async function serialise(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.first_contact', 0))`);
}
