import { expect } from 'vitest';
import type { SoldRefund } from '#test/support/network/simulator-admin.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';

/** Events of a cancellation that was completed with its refund. */
export const EVENTS_OF_A_CANCELLATION = [
  'cancellation.accepted',
  'attempt.prepared',
  'attempt.accepted',
  'cancellation.esim_cancelled',
  'refund.completed',
  'cancellation.completed',
];

/** Acts on a cancellation as an operator, which must succeed. */
export async function actOnCancellation(
  { api }: Stack,
  id: string,
  action: string,
  body: Record<string, unknown>,
): Promise<void> {
  const answer = await api.post(`/v1/cancellations/${id}/${action}`, { reason: 'test', ...body });
  expect(answer.status, answer.text).toBe(200);
}

/** Cancels an eSIM, and the service reviews the refund. @param esimId our id. @returns the id of the cancellation. */
export async function cancelForReview(desk: OrderDesk, esimId: string): Promise<string> {
  await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'manual_review' });
  return desk.cancel(esimId);
}

/** Waits until the refund of a cancellation is in review. */
export async function refundIsInReview({ api }: Stack, id: string): Promise<void> {
  await waitFor('the refund is in review', async () => {
    const found = (await api.get(`/v1/cancellations/${id}`)).body as { refund: { status: string } | null };
    return found.refund?.status === 'manual_review';
  });
}

/** Waits for the first refund of an eSIM at the service. @param esimId our id. */
export async function firstRefund(desk: OrderDesk, esimId: string): Promise<SoldRefund> {
  return waitFor('the service has a refund', async () => (await desk.refundsAtService(esimId))[0]);
}

/** Waits until the reports of the cancellation and of its refund are applied. */
export async function bothEventsAreApplied(desk: OrderDesk, id: string): Promise<void> {
  await waitFor(
    'both events are in',
    async () =>
      (await desk.inbox(id)).filter(({ source, state }) => source === 'webhook' && state === 'applied').length === 2,
  );
}

/** The results of the conditions of a refund, as they were before the send. */
export function conditionsOf(cancellation: { readonly body: unknown }): string[] {
  return (cancellation.body as { preflight: { result: string }[] }).preflight.map(({ result }) => result);
}

/** The service reports a refund as completed with this amount. @param esimId our id. */
export async function reportRefund(desk: OrderDesk, esimId: string, refundId: string, amount: string): Promise<void> {
  const data = {
    id: refundId,
    esim_id: await desk.esimAtService(esimId),
    status: 'completed',
    review: 'accepted',
    amount,
    currency: 'USD',
  };
  await desk.simulator.sendWebhook({ environment: 'sandbox', event: 'refund.completed', data });
}

/** The service shows no refunds. */
export async function refuseRefundReads({ simulator }: OrderDesk): Promise<void> {
  for (const endpoint of ['getRefund', 'listRefunds'] as const)
    await simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
}

/** The service sends no webhooks and shows no refunds. */
export async function silenceRefunds(desk: OrderDesk): Promise<void> {
  await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  await refuseRefundReads(desk);
}
