import { complete } from '#activities/purchases/complete-purchase.ts';
import type { RunningLease } from '#activities/sending/send-lease.ts';
import type { Sender } from '#activities/sending/send-steps.ts';
import type { SendResult } from '#activities/work/work-types.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

type Deliverer = Pick<Sender, 'handlers' | 'database' | 'gate' | 'now'>;

/**
 * Delivers a purchase in the activity of its send. Called after the facts of the send are committed, so nothing here
 * can make its outcome unknown: an error, a delay and everything but a plain success are left to `completePurchase`,
 * which Temporal repeats where operators see it.
 *
 * @param attempt that the service calls completed.
 * @param time limits the delivery: it ends before the activity does. A delivery that goes on after it has no other
 *   effect than one that `completePurchase` makes.
 * @returns what was delivered; undefined when it was not.
 */
export async function deliverAtOnce(
  sender: Deliverer,
  kind: WorkKind,
  attempt: AttemptRow,
  time: RunningLease,
): Promise<SendResult['delivered']> {
  const leftMs = time.leftMs();
  if (leftMs <= 0) return undefined;
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), leftMs);
  try {
    return await Promise.race([deliver(sender, kind, attempt), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function deliver(sender: Deliverer, kind: WorkKind, attempt: AttemptRow): Promise<SendResult['delivered']> {
  try {
    // Reports that the workflow has not marked as handled come again, to be judged by the end of the work.
    const result = await complete(sender, sender.handlers[kind], attempt, []);
    if (result.kind !== 'completed') return undefined;
    return result.esimId === undefined ? {} : { esimId: result.esimId };
  } catch {
    return undefined;
  }
}
