import { type Leg, until } from '#cli/sandbox-tour/leg.ts';
import type { Listing, OptionalResult } from '#upstream/client.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { ServiceOrder } from '#upstream/contract.ts';

/** Kept, so that the same bytes can be sent again. */
export interface OrderRequest {
  readonly idempotencyKey: string;
  readonly reference: string;
  readonly packageId: number;
  readonly body: Buffer;
  /** First send, epoch milliseconds. */
  readonly sentAtMs: number;
}

export interface PlacedOrder extends OrderRequest {
  readonly order: ServiceOrder;
}

export interface BoughtEsim extends PlacedOrder {
  readonly esimId: string;
}

export function newOrderRequest({ newId, now }: Leg, packageId: number): OrderRequest {
  const reference = newId();
  const body = orderRequestBytes({ packageId, reference });
  return { idempotencyKey: newId(), reference, packageId, body, sentAtMs: now() };
}

export async function followOrder(leg: Leg, order: ServiceOrder, reference: string): Promise<ServiceOrder> {
  const { client } = leg;
  const find = () => client.findOrdersByReference(reference);
  return await follow(leg, order, () => client.getOrder(order.id), find);
}

export function deliveredBy(request: OrderRequest, order: ServiceOrder): BoughtEsim | undefined {
  const { status, esim_id: esimId } = order;
  return status !== 'completed' || esimId == null ? undefined : { ...request, order, esimId };
}

export function howItEnded(order: ServiceOrder): string {
  if (order.status === 'processing') return 'still processing at the end of the wait, or no read shows its end';
  if (order.status === 'failed') return 'failed';
  return order.esim_id == null ? 'completed, without an esim_id' : 'completed';
}

/** Uses the list when the read fails. */
export async function follow<Thing extends { readonly id: string; readonly status: string }>(
  leg: Leg,
  begun: Thing,
  read: () => Promise<OptionalResult<Thing>>,
  find: () => Promise<OptionalResult<Listing<Thing>>>,
): Promise<Thing> {
  if (begun.status !== 'processing') return begun;
  const ended = await until(leg, async () => {
    const known = await read();
    if (known.ok) return known.value.status === 'processing' ? undefined : known.value;
    const listed = await find();
    // Neither call works: waiting is useless.
    if (!listed.ok) return begun;
    const found = listed.value.items.find(({ id }) => id === begun.id);
    return found === undefined || found.status === 'processing' ? undefined : found;
  });
  return ended ?? begun;
}
