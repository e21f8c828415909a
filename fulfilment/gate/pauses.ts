/**
 * Pauses of operators, and the hold before the first production purchase of each kind. A hold that was released, by
 * the product or an operator, is not set again.
 */
import { and, eq, isNull, sql, asc, desc, lt, inArray, isNotNull, ne } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { gatePauses, capabilityProfiles } from '#db/schema.ts';
import { workTable } from '#db/work/rows.ts';
import { notLookedYet, type FirstPurchaseCheck } from '#domain/gate/first-purchase-check.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { type WorkKind, KINDS, PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import { boughtStatusesOf } from '#domain/work/lifecycle.ts';
import { proveAfterDocument } from '#fulfilment/gate/drift.ts';

export type PauseRow = typeof gatePauses.$inferSelect;

/** An equal pause that is in force is not changed. */
export async function addPause(
  tx: Executor,
  requested: Pick<PauseRow, 'origin' | 'kind' | 'failureClass' | 'reason'> & { readonly actor: string },
  now: Date,
): Promise<{ readonly pause: PauseRow; readonly isNew: boolean }> {
  const { actor, ...pause } = requested;
  const { origin, kind, failureClass, reason } = pause;
  // An equal pause may be released before it is read; then the insert is repeated.
  for (;;) {
    const id = newId('pause');
    const [made] = await tx
      .insert(gatePauses)
      .values({ id, ...pause, pausedBy: actor, pausedAt: now })
      .onConflictDoNothing()
      .returning();
    if (made !== undefined) {
      await addAuditEntry(tx, { actor, action: 'gate.pause', subject: { kind: 'pause', id }, reason }, now);
      return { pause: made, isNew: true };
    }
    const [found] = await tx
      .select()
      .from(gatePauses)
      .where(
        and(
          isNull(gatePauses.releasedAt),
          eq(gatePauses.origin, origin),
          sql`${gatePauses.kind} is not distinct from ${kind}`,
          sql`${gatePauses.failureClass} is not distinct from ${failureClass}`,
        ),
      );
    if (found !== undefined) return { pause: found, isNew: false };
  }
}

/** An ended pause is not changed. @returns undefined when it does not exist. */
export async function releasePause(
  tx: Executor,
  id: string,
  { actor, reason }: { actor: string; reason: string },
  now: Date,
): Promise<PauseRow | undefined> {
  const [released] = await tx
    .update(gatePauses)
    .set({ releasedAt: now, releasedBy: actor, releaseReason: reason })
    .where(and(eq(gatePauses.id, id), isNull(gatePauses.releasedAt)))
    .returning();
  if (released !== undefined) {
    await addAuditEntry(tx, { actor, action: 'gate.release', subject: { kind: 'pause', id }, reason }, now);
    return released;
  }
  return findPause(tx, id);
}

/** `failures` are those that the work was last held for. */
export function pauseFor(
  pauses: readonly PauseRow[],
  kind: WorkKind,
  failures: readonly FailureClass[],
): PauseRow | undefined {
  return pauses.find(
    (pause) =>
      (pause.kind === null || pause.kind === kind) &&
      (pause.failureClass === null || failures.includes(pause.failureClass)),
  );
}

export function pauseSentence({ id, pausedBy, reason }: PauseRow): string {
  return `Buying is paused (${id}, by ${pausedBy}): ${reason}`;
}

/** Also a pause that has ended. */
export async function findPause(db: Executor, id: string): Promise<PauseRow | undefined> {
  const [found] = await db.select().from(gatePauses).where(eq(gatePauses.id, id));
  return found;
}

export async function listPauses(
  db: Executor,
  filter: {
    readonly kind: WorkKind | undefined;
    readonly failureClass: FailureClass | undefined;
    readonly includeEnded: boolean;
  },
  { limit, after }: PageOptions<string>,
): Promise<PauseRow[]> {
  const { kind, failureClass, includeEnded } = filter;
  return db
    .select()
    .from(gatePauses)
    .where(
      and(
        matches(gatePauses.kind, kind),
        matches(gatePauses.failureClass, failureClass),
        includeEnded ? undefined : isNull(gatePauses.releasedAt),
        after === undefined ? undefined : lt(gatePauses.id, after),
      ),
    )
    .orderBy(desc(gatePauses.id))
    .limit(limit);
}

export async function activePauses(db: Executor): Promise<PauseRow[]> {
  return db
    .select()
    .from(gatePauses)
    .where(isNull(gatePauses.releasedAt))
    .orderBy(asc(gatePauses.pausedAt), asc(gatePauses.id));
}

const ORIGIN = 'first_purchase_check';
/** The product acts under this name. */
export const FIRST_PURCHASE_CHECK_ACTOR = 'worker';

export type FirstPurchaseCheckState =
  | { readonly kind: 'held'; readonly pause: PauseRow }
  /** A confirmed profile, or a purchase. */
  | { readonly kind: 'recorded'; readonly evidence: string }
  | { readonly kind: 'released'; readonly by: string; readonly reason: string; readonly at: Date }
  /** Before the first start of a worker. */
  | { readonly kind: 'unknown' };

export async function readFirstPurchaseCheck(
  db: Executor,
): Promise<ReadonlyMap<PurchaseKind, FirstPurchaseCheckState>> {
  const states = new Map<PurchaseKind, FirstPurchaseCheckState>();
  for (const kind of PURCHASE_KINDS) states.set(kind, await stateOf(db, kind));
  return states;
}

async function stateOf(db: Executor, kind: PurchaseKind): Promise<FirstPurchaseCheckState> {
  const ofKind = and(eq(gatePauses.origin, ORIGIN), eq(gatePauses.kind, kind));
  const [pause] = await db.select().from(gatePauses).where(ofKind).orderBy(desc(gatePauses.id)).limit(1);
  if (pause === undefined) {
    const evidence = await ownEvidence(db, kind);
    return evidence === undefined ? { kind: 'unknown' } : { kind: 'recorded', evidence };
  }
  const { releasedAt, releasedBy, releaseReason } = pause;
  if (releasedAt === null) return { kind: 'held', pause };
  return { kind: 'released', by: releasedBy ?? '', reason: releaseReason ?? '', at: releasedAt };
}

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
  const table = workTable<WorkKind>(kind);
  const [bought] = await db
    .select({ id: table.id })
    .from(table)
    .where(inArray(table.status, boughtStatusesOf(kind)))
    .limit(1);
  return bought === undefined ? undefined : `The ${KINDS[kind].noun} ${bought.id} was bought.`;
}

/** Several processes may do so at once. @returns the new pauses. */
export async function holdUntilSeen(tx: Executor, now: Date): Promise<PauseRow[]> {
  await serialise(tx);
  const made: PauseRow[] = [];
  for (const [kind, state] of await readFirstPurchaseCheck(tx)) {
    if (state.kind !== 'unknown') continue;
    const pause = { origin: ORIGIN, kind, failureClass: null, reason: notLookedYet(kind) } as const;
    made.push((await addPause(tx, { ...pause, actor: FIRST_PURCHASE_CHECK_ACTOR }, now)).pause);
  }
  return made;
}

export async function heldKinds(db: Executor): Promise<PurchaseKind[]> {
  const states = await readFirstPurchaseCheck(db);
  return PURCHASE_KINDS.filter((kind) => states.get(kind)?.kind === 'held');
}

export async function releaseRecorded(tx: Executor, actor: string, now: Date): Promise<PurchaseKind[]> {
  await serialise(tx);
  const released: PurchaseKind[] = [];
  for (const kind of await heldKinds(tx)) {
    const evidence = await ownEvidence(tx, kind);
    if (evidence === undefined) continue;
    const applied = await applyFirstPurchaseCheck(tx, kind, { kind: 'seen', evidence }, actor, now);
    if (applied === 'released') released.push(kind);
  }
  return released;
}

/** `unchanged` also when there is none. */
export async function applyFirstPurchaseCheck(
  tx: Executor,
  kind: PurchaseKind,
  found: FirstPurchaseCheck,
  actor: string,
  now: Date,
): Promise<'released' | 'reason_changed' | 'unchanged'> {
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

/** A pause that another caller released stays released. */
async function serialise(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.first_purchase_check', 0))`);
}
