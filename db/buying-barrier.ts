import { and, eq, inArray, notInArray, or } from 'drizzle-orm';
import type { BuyingBarrier } from '#domain/purchase-decision.ts';
import { hasOpenCase } from '#db/cases.ts';
import type { Executor } from '#db/database.ts';
import { attempts, inbox } from '#db/schema.ts';

/**
 * Finds what bars an order. Asked in the transaction that is about to buy or to fail, with the order locked.
 *
 * @param answered rows of the inbox that this very step answers.
 */
export async function buyingBarrier(
  tx: Executor,
  orderId: string,
  answered: readonly bigint[] = [],
): Promise<BuyingBarrier | undefined> {
  if (await hasOpenCase(tx, { kind: 'order', id: orderId }, 'contradiction')) return 'contradiction';

  const names = await tx
    .select({ reference: attempts.reference, serviceOrderId: attempts.serviceOrderId })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, 'order'), eq(attempts.subjectId, orderId)));
  const serviceOrderIds = names.flatMap(({ serviceOrderId }) => (serviceOrderId === null ? [] : [serviceOrderId]));
  const waiting = await tx
    .select({ id: inbox.id })
    .from(inbox)
    .where(
      and(
        inArray(inbox.state, ['pending', 'relayed']),
        ...(answered.length > 0 ? [notInArray(inbox.id, [...answered])] : []),
        or(
          and(eq(inbox.subjectKind, 'order'), eq(inbox.subjectId, orderId)),
          inArray(
            inbox.reference,
            names.map(({ reference }) => reference),
          ),
          ...(serviceOrderIds.length > 0 ? [inArray(inbox.serviceOrderId, serviceOrderIds)] : []),
        ),
      ),
    )
    .limit(1);
  return waiting.length > 0 ? 'observations_pending' : undefined;
}
