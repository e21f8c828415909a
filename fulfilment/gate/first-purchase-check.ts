/**
 * The hold before the first purchase in production: one pause for each kind of purchase. Its row also records how the
 * hold ended. After its release, by the product or an operator, it is not set again.
 */
import { and, desc, eq, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { PauseRow } from '#db/gate/pauses.ts';
import { capabilityProfiles, gatePauses } from '#db/schema.ts';
import { workTable } from '#db/work/rows.ts';
import { notLookedYet, type FirstPurchaseCheck } from '#domain/gate/first-purchase-check.ts';
import { KINDS, PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import { boughtStatusesOf } from '#domain/work/lifecycle.ts';
import { proveAfterDocument } from '#fulfilment/gate/drift.ts';
import { addPause, releasePause } from '#fulfilment/gate/pauses.ts';

const ORIGIN = 'first_purchase_check';
/** The actor of these pauses when the product sets or releases them. */
export const FIRST_PURCHASE_CHECK_ACTOR = 'worker';

/** The state of a kind of purchase. */
export type FirstPurchaseCheckState =
  | { readonly kind: 'held'; readonly pause: PauseRow }
  /** Our own records prove it: a confirmed profile, or a purchase. */
  | { readonly kind: 'recorded'; readonly evidence: string }
  | { readonly kind: 'released'; readonly by: string; readonly reason: string; readonly at: Date }
  /** Nothing shows it and nothing holds it: so it is before the first start of a worker. */
  | { readonly kind: 'unknown' };

/** The states by kind of purchase, in display order. */
export async function readFirstPurchaseCheck(
  db: Executor,
): Promise<ReadonlyMap<PurchaseKind, FirstPurchaseCheckState>> {
  const states = new Map<PurchaseKind, FirstPurchaseCheckState>();
  for (const kind of PURCHASE_KINDS) states.set(kind, await stateOf(db, kind));
  return states;
}

async function stateOf(db: Executor, kind: PurchaseKind): Promise<FirstPurchaseCheckState> {
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

/** The evidence in our own records. @returns undefined when there is none. */
async function ownEvidence(db: Executor, kind: PurchaseKind): Promise<string | undefined> {
  const [profile] = await db
    .select()
    .from(capabilityProfiles)
    .where(and(eq(capabilityProfiles.environment, 'sandbox'), isNotNull(capabilityProfiles.confirmedAt)))
    .orderBy(desc(capabilityProfiles.id))
    .limit(1);
  if (profile?.findings[KINDS[kind].seenTrait] === true) {
    return `Evidence: the capability profile ${profile.id}, confirmed by ${profile.confirmedBy ?? '?'}.`;
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
 * Sets a pause for each kind of purchase without evidence or hold. Several processes may do so at once.
 * @returns the new pauses.
 */
export async function holdUntilSeen(tx: Executor, now: Date): Promise<PauseRow[]> {
  await serialise(tx);
  const made: PauseRow[] = [];
  for (const [kind, state] of await readFirstPurchaseCheck(tx)) {
    if (state.kind !== 'unknown') continue;
    const pause = {
      origin: ORIGIN,
      kind,
      failureClass: null,
      reason: notLookedYet(kind),
      actor: FIRST_PURCHASE_CHECK_ACTOR,
    } as const;
    made.push((await addPause(tx, pause, now)).pause);
  }
  return made;
}

/** The kinds of purchase that are held. */
export async function heldKinds(db: Executor): Promise<PurchaseKind[]> {
  const states = await readFirstPurchaseCheck(db);
  return PURCHASE_KINDS.filter((kind) => states.get(kind)?.kind === 'held');
}

/**
 * Releases the pauses of kinds that our own records prove by now.
 * @returns those kinds.
 */
export async function releaseRecorded(tx: Executor, actor: string, now: Date): Promise<PurchaseKind[]> {
  await serialise(tx);
  const released: PurchaseKind[] = [];
  for (const kind of await heldKinds(tx)) {
    const evidence = await ownEvidence(tx, kind);
    if (
      evidence !== undefined &&
      (await applyFirstPurchaseCheck(tx, kind, { kind: 'seen', evidence }, actor, now)) === 'released'
    ) {
      released.push(kind);
    }
  }
  return released;
}

/** The effect on the pause of a kind; `unchanged` also when there is none. */
export type AppliedFirstPurchaseCheck = 'released' | 'reason_changed' | 'unchanged';

/** Releases the pause of a kind whose shapes were seen, or updates its text. */
export async function applyFirstPurchaseCheck(
  tx: Executor,
  kind: PurchaseKind,
  found: FirstPurchaseCheck,
  actor: string,
  now: Date,
): Promise<AppliedFirstPurchaseCheck> {
  const inForce = and(eq(gatePauses.origin, ORIGIN), eq(gatePauses.kind, kind), isNull(gatePauses.releasedAt));
  if (found.kind === 'unseen') {
    const changed = await tx
      .update(gatePauses)
      .set({ reason: found.reason })
      .where(and(inForce, ne(gatePauses.reason, found.reason)))
      .returning({ id: gatePauses.id });
    return changed.length > 0 ? 'reason_changed' : 'unchanged';
  }
  const [pause] = await tx.select().from(gatePauses).where(inForce).for('update');
  if (pause === undefined) return 'unchanged';
  await releasePause(tx, pause.id, { actor, reason: found.evidence }, now);
  if (found.byDocumentAlone === true) await proveAfterDocument(tx, kind, now.getTime());
  return 'released';
}

/** Serialises concurrent callers with an advisory lock: a pause that another caller released stays released. */
async function serialise(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.first_purchase_check', 0))`);
}
