import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { lockWork, readWork, type WorkRow } from '#db/work/rows.ts';
import { workExists } from '#db/work/work-reads.ts';
import type { Operator, OperatorAction, Refusal } from '#domain/operator/operator-actions.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isCompared } from '#fulfilment/attempts/recover.ts';
import { actOnLockedWork } from '#fulfilment/operator/operator-actions.ts';

export interface ActionRequest {
  readonly work: WorkRef;
  readonly action: OperatorAction;
  readonly operator: Operator;
  readonly owner: Owner;
  readonly dryRun?: boolean;
  /** False when the workflow itself performs the action. */
  readonly wakesWorkflow?: boolean;
  /** The wait for its workflow to compare its memory with the row. */
  readonly comparisonMs?: number;
}

/** A comparison takes a second; a caller and the activity of an update wait longer than this. */
export const COMPARISON_MS = 8_000;
const COMPARISON_READ_MS = 200;

type Before = Pick<WorkRow, 'status' | 'failureClass' | 'attentionReason'>;

export type ActionOutcome =
  | { readonly kind: 'missing' }
  | { readonly kind: 'applied' | 'unchanged'; readonly before: Before }
  | { readonly kind: 'refused'; readonly before: Before; readonly refusal: Refusal; readonly detail: string };

/** For an action that was refused, possibly after writes, or only judged. */
class RolledBackError extends Error {
  readonly outcome: ActionOutcome;

  constructor(outcome: ActionOutcome) {
    super(outcome.kind);
    this.outcome = outcome;
  }
}

/**
 * A refused action changes nothing. When the workflow must compare its memory with the row first, that is requested
 * and awaited.
 */
export async function performAction(database: Database, request: ActionRequest, now: Date): Promise<ActionOutcome> {
  const { work, dryRun = false, comparisonMs = COMPARISON_MS } = request;
  const outcome = await performOnce(database, request, now);
  if (outcome.kind !== 'refused' || outcome.refusal !== 'not_compared' || dryRun) return outcome;
  await database.transaction((tx) => requestWake(tx, work));
  for (const until = performance.now() + comparisonMs; performance.now() < until;) {
    await delay(COMPARISON_READ_MS);
    if (await database.run(async (db) => isCompared(db, await readWork(db, work))))
      return performOnce(database, request, now);
  }
  return outcome;
}

async function performOnce(database: Database, request: ActionRequest, now: Date): Promise<ActionOutcome> {
  try {
    return await database.transaction((tx) => perform(tx, request, now));
  } catch (error) {
    if (error instanceof RolledBackError) return error.outcome;
    throw error;
  }
}

async function perform(
  tx: Executor,
  { work, action, operator, owner, dryRun = false, wakesWorkflow = true }: ActionRequest,
  now: Date,
): Promise<ActionOutcome> {
  if (!(await workExists(tx, work, owner))) return { kind: 'missing' };
  const before = await lockWork(tx, work);
  const result = await actOnLockedWork({ tx, work, operator, now }, before, action);
  if (result.kind === 'refused') throw new RolledBackError({ ...result, before });
  const outcome = { kind: result.kind, before };
  if (dryRun) throw new RolledBackError(outcome);
  if (result.kind === 'applied' && wakesWorkflow) await requestWake(tx, work);
  return outcome;
}
