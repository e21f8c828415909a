/** Pauses of buying: those of operators, and those of the product (see `fulfilment/gate/first-purchase-check.ts`). */
import { and, eq, isNull, sql } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { type PauseRow, findPause } from '#db/gate/pauses.ts';
import { gatePauses } from '#db/schema.ts';
import type { PauseOrigin } from '#domain/gate/purchase-gate.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

export interface NewPause {
  readonly origin: PauseOrigin;
  readonly kind: WorkKind | null;
  readonly failureClass: FailureClass | null;
  readonly reason: string;
  readonly actor: string;
}

/**
 * Sets a pause. An equal pause that is in force is not changed.
 * @returns the pause, and whether it is new.
 */
export async function addPause(
  tx: Executor,
  requested: NewPause,
  now: Date,
): Promise<{ pause: PauseRow; isNew: boolean }> {
  // An equal pause may be released before it is read; then the insert is repeated.
  for (;;) {
    const made = await insertPause(tx, requested, now);
    if (made !== undefined) return { pause: made, isNew: true };
    const { origin, kind, failureClass } = requested;
    const [found] = await tx
      .select()
      .from(gatePauses)
      .where(
        and(
          isNull(gatePauses.releasedAt),
          eq(gatePauses.origin, origin),
          sql`coalesce(${gatePauses.kind}, '') = ${kind ?? ''}`,
          sql`coalesce(${gatePauses.failureClass}, '') = ${failureClass ?? ''}`,
        ),
      );
    if (found !== undefined) return { pause: found, isNew: false };
  }
}

/** @returns undefined when an equal pause is in force. */
async function insertPause(tx: Executor, requested: NewPause, now: Date): Promise<PauseRow | undefined> {
  const { origin, kind, failureClass, reason, actor } = requested;
  const id = newId('pause');
  const [made] = await tx
    .insert(gatePauses)
    .values({ id, origin, kind, failureClass, reason, pausedBy: actor, pausedAt: now })
    .onConflictDoNothing()
    .returning();
  if (made !== undefined)
    await addAuditEntry(tx, { actor, action: 'gate.pause', subject: { kind: 'pause', id }, reason }, now);
  return made;
}

/**
 * Ends a pause; an ended pause is not changed.
 * @returns undefined when it does not exist.
 */
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

/**
 * The pause that stops work of this kind; undefined: none.
 * @param failures the failures that it was last held for.
 */
export function pauseFor(
  pauses: readonly PauseRow[],
  kind: WorkKind,
  failures: readonly (FailureClass | null)[],
): PauseRow | undefined {
  return pauses.find(
    (pause) =>
      (pause.kind === null || pause.kind === kind) &&
      (pause.failureClass === null || failures.includes(pause.failureClass)),
  );
}

/** A pause as a sentence has it. */
export function pauseSentence({ id, pausedBy, reason }: PauseRow): string {
  return `Buying is paused (${id}, by ${pausedBy}): ${reason}`;
}
