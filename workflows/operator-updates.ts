import { ApplicationFailure, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import type { OperatorAction } from '#domain/operator-actions.ts';
import { isFinal } from '#domain/order-lifecycle.ts';
import {
  abandonUpdate,
  ACTION_REFUSED,
  changeLimitUpdate,
  resolveUpdate,
  retryUpdate,
  type ActedBy,
  type Explanation,
} from '#workflows/messages.ts';
import type { OrderProgress } from '#workflows/order-progress.ts';
import { database } from '#workflows/order-state.ts';

/** What the handlers of an order's operator updates work with. */
export interface OperatorUpdatesContext {
  readonly orderId: string;
  readonly progress: OrderProgress;
  /** Called once PostgreSQL holds the act: wakes what waits. */
  readonly acted: () => void;
}

/**
 * Takes what operators ask for from the Temporal UI and its command line. The rules, and the record of who did what,
 * are in PostgreSQL, so that an act through our API is the same act; what can be refused without a look there is
 * refused by the validator and leaves no trace in the history.
 */
export function handleOperatorUpdates({ orderId, progress, acted }: OperatorUpdatesContext): void {
  const act = async (by: ActedBy, action: OperatorAction): Promise<Explanation> => {
    const actId = currentUpdateInfo()?.id;
    if (actId === undefined) throw new Error('an operator acts by an update');
    await database.actOnOrder({ orderId, action, operator: { actor: `temporal/${by.by}`, why: by.why, actId } });
    acted();
    return progress.explanation();
  };
  const validator = (by: ActedBy) => {
    requireOperator(by);
    const { status } = progress.explanation();
    if (isFinal(status)) refuse(`The order has ended (${status}); nothing can be done with it any more.`);
  };
  setHandler(retryUpdate, (by) => act(by, { action: 'retry' }), { validator });
  setHandler(abandonUpdate, (by) => act(by, { action: 'abandon' }), { validator });
  setHandler(changeLimitUpdate, (by) => act(by, { action: 'change_limit', maxPrice: by.max_price }), { validator });
  setHandler(
    resolveUpdate,
    (by) =>
      act(by, {
        action: 'resolve',
        reason: by.case,
        verdict: by.verdict,
        ...(by.service_order_id !== undefined && { serviceOrderId: by.service_order_id }),
        ...(by.service_esim_id !== undefined && { serviceEsimId: by.service_esim_id }),
        ...(by.next !== undefined && { next: by.next }),
      }),
    { validator },
  );
}

/** What a person types in the UI is any JSON at all, or nothing. */
function requireOperator(by: Partial<ActedBy> | undefined): void {
  for (const field of ['by', 'why'] as const) {
    const text: unknown = by?.[field];
    if (typeof text !== 'string' || text.trim() === '') {
      refuse(`Say who acts and why: {"by": "your name", "why": "a reason"}. ${field} is missing.`);
    }
  }
}

function refuse(message: string): never {
  throw ApplicationFailure.nonRetryable(message, ACTION_REFUSED);
}
