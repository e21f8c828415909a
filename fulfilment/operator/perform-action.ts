import type { Database, Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { requestWake } from '#db/queues/outbox.ts';
import type { ChosenWork } from '#db/work/bulk-choice.ts';
import { workExists } from '#db/work/work-queries.ts';
import { lockWork } from '#db/work/work-rows.ts';
import type { Operator, OperatorAction, Refusal } from '#domain/operator/operator-actions.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';

/** An operator action on one piece of work. */
export interface ActionRequest {
  readonly work: WorkRef;
  readonly action: OperatorAction;
  readonly operator: Operator;
  readonly owner: Owner;
  /** True: the action is only judged. */
  readonly dryRun?: boolean;
  /** False when the workflow itself performs the action; true by default. */
  readonly wakesWorkflow?: boolean;
}

/** `before`: the work before the action. */
export type ActionOutcome =
  | { readonly kind: 'missing' }
  | { readonly kind: 'applied' | 'unchanged'; readonly before: ChosenWork }
  | { readonly kind: 'refused'; readonly before: ChosenWork; readonly refusal: Refusal; readonly detail: string };

/** Rolls back the transaction of an action that was refused, possibly after writes, or that was only judged. */
class RolledBackError extends Error {
  readonly outcome: ActionOutcome;

  constructor(outcome: ActionOutcome) {
    super(outcome.kind);
    this.outcome = outcome;
  }
}

/**
 * Performs an operator action in a transaction of its own, and wakes the workflow. A refused action
 * changes nothing. When it was refused because the workflow must compare its knowledge with the row first, that is
 * requested, too.
 */
export async function performAction(database: Database, request: ActionRequest, now: Date): Promise<ActionOutcome> {
  try {
    return await database.transaction((tx) => perform(tx, request, now));
  } catch (error) {
    if (!(error instanceof RolledBackError)) throw error;
    const { outcome } = error;
    if (outcome.kind === 'refused' && outcome.refusal === 'not_compared' && request.dryRun !== true)
      await database.transaction((tx) => requestWake(tx, request.work));
    return outcome;
  }
}

async function perform(
  tx: Executor,
  { work, action, operator, owner, dryRun = false, wakesWorkflow = true }: ActionRequest,
  now: Date,
): Promise<ActionOutcome> {
  if (!(await workExists(tx, work, owner))) return { kind: 'missing' };
  const before = await lockWork(tx, work);
  const result = await actOnWork(tx, work, action, operator, now);
  if (result.kind === 'refused') throw new RolledBackError({ ...result, before });
  const outcome = { kind: result.kind, before };
  if (dryRun) throw new RolledBackError(outcome);
  if (result.kind === 'applied' && wakesWorkflow) await requestWake(tx, work);
  return outcome;
}
