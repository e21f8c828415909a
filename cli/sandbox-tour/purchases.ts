/** Buying and following in the sandbox: what several legs do. */
import { until, type TourContext } from '#cli/sandbox-tour/context.ts';
import { clause, observeRefusal, type KeyedOperation, type KeyRepeat } from '#cli/sandbox-tour/observations.ts';
import type { Listing, OptionalResult } from '#upstream/client.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceOrder } from '#upstream/contract.ts';

/** What is needed to send one order again: the same bytes, under the same key or another. */
export interface OrderRequest {
  readonly idempotencyKey: string;
  readonly reference: string;
  readonly packageId: number;
  readonly body: Buffer;
  /** Of the first send, epoch milliseconds. */
  readonly sentAtMs: number;
}

/** An order that the service took. */
export interface PlacedOrder extends OrderRequest {
  readonly order: ServiceOrder;
}

/** An order that was delivered. */
export interface BoughtEsim extends PlacedOrder {
  readonly esimId: string;
}

export function newOrderRequest({ newId, now }: TourContext, packageId: number): OrderRequest {
  const reference = newId();
  const body = orderRequestBytes({ packageId, reference });
  return { idempotencyKey: newId(), reference, packageId, body, sentAtMs: now() };
}

/** Follows an order to its end, for as long as the tour waits. @returns what was heard of it last. */
export async function followOrder(context: TourContext, order: ServiceOrder, reference: string): Promise<ServiceOrder> {
  const { client } = context;
  return await follow(
    context,
    order,
    () => client.getOrder(order.id),
    () => client.findOrdersByReference(reference),
  );
}

/** The eSIM of an order that was followed to its end; undefined when it came to nothing. */
export function deliveredBy(request: OrderRequest, order: ServiceOrder): BoughtEsim | undefined {
  const esimId = order.esim_id ?? undefined;
  return order.status !== 'completed' || esimId === undefined ? undefined : { ...request, order, esimId };
}

/** How an order ended, as a clause. */
export function howItEnded(order: ServiceOrder): string {
  if (order.status === 'processing') return 'still processing when the time was over, or nothing tells how it went on';
  if (order.status === 'failed') return 'failed';
  return order.esim_id == null ? 'completed, and esim_id names no eSIM' : 'completed';
}

interface Progressing {
  readonly id: string;
  readonly status: string;
}

/**
 * Follows something that is processing, by its read or else by its list, until it is not or the time is over.
 *
 * @returns what was heard of it last.
 */
export async function follow<Thing extends Progressing>(
  context: TourContext,
  begun: Thing,
  read: () => Promise<OptionalResult<Thing>>,
  find: () => Promise<OptionalResult<Listing<Thing>>>,
): Promise<Thing> {
  if (begun.status !== 'processing') return begun;
  const ended = await until(context, async () => {
    const known = await read();
    if (known.ok) return known.value.status === 'processing' ? undefined : known.value;
    const listed = await find();
    // Where neither read is to be had, waiting would tell nothing.
    if (!listed.ok) return begun;
    const found = listed.value.items.find(({ id }) => id === begun.id);
    return found === undefined || found.status === 'processing' ? undefined : found;
  });
  return ended ?? begun;
}

/** What the same bytes with the same key came to. @param firstId of what the first send made. */
export function observeRepeat(
  operation: KeyedOperation,
  firstId: string,
  ageMs: number,
  result: ServiceResult<{ readonly id: string }>,
): KeyRepeat {
  if (!result.ok) return { operation, ageMs, outcome: observeRefusal(result), detail: clause(result.detail) };
  if (result.value.id === firstId)
    return { operation, ageMs, outcome: 'same', detail: 'it returned the stored result' };
  return { operation, ageMs, outcome: 'another', detail: `it made another ${operation}` };
}
