import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { journal, refunds } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const environment = {
  ...RARE_UPKEEP,
  'cancellation.refund_deadline': '2s',
  'purchase.look_up_again': '500ms',
  'purchase.look_up_again_max': '1s',
  'purchase.resend_window': '1s',
  'books.every': '1s',
  'books.grace': '1s',
  'retry.hold_delay': '10m',
};
const simulator = { SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment, simulator }));
const desk = checkedDesk(stack);

/** Longer than any test, so each test decides when the service pays. */
const PAID_BY_HAND = 3_600_000;
const act = (id: string, action: string, body: Record<string, unknown> = {}) =>
  stack.api.post(`/v1/cancellations/${id}/${action}`, { reason: 'test', ...body });
/** Waits for a case. @returns its reason. */
const attention = async (id: string) =>
  (await desk.cancellationReaches(id, 'needs_attention')).at('operations', 'attention', 'reason');
/** Gives a case up: nothing was bought, and the eSIM is free again. */
async function abandon(id: string, reason: string): Promise<void> {
  const verdict = { case: reason, verdict: 'not_bought', next: 'abandon' };
  expect((await act(id, 'resolve', verdict)).status).toBe(200);
  await desk.cancellationReaches(id, 'abandoned');
}
const decide = async (esimId: string, decision: 'accept' | 'complete') =>
  desk.simulator.decideRefund((await desk.refundsAtService(esimId))[0]!.id, decision);

describe('a review without a decision', () => {
  it('needs attention and allows only not_bought, because the eSIM is not known to be cancelled', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'manual_review' });
    const id = await desk.cancel(esimId);
    expect(await attention(id)).toBe('refund_missing');
    await using operator = await TemporalOperator.connect(stack);
    const shown = await operator.showsStage(id, 'needs_attention');
    const stage = { product: 'esim-cancellation', needsAttention: true, attentionReason: 'refund_missing' };
    expect(shown).toMatchObject(stage);
    expect(shown.details).toMatch(/^### ⚠ needs_attention[^]*\*\*Case\*\* `refund_missing`/);
    for (const verdict of ['dismissed', 'refunded']) {
      const refused = await act(id, 'resolve', { case: 'refund_missing', verdict });
      expect([refused.status, refused.at('refusal')]).toEqual([409, 'not_cancelled']);
    }
    await abandon(id, 'refund_missing');
    expect((await desk.attemptsOf(id)).map(({ busyEsimId }) => busyEsimId)).toEqual([null]);

    // The service cancels it later. A case opens, and the books record its credit.
    await decide(esimId, 'accept');
    await waitFor('the contradiction is a case', async () =>
      (await desk.cases(id)).some(({ reason, open }) => reason === 'contradiction' && open),
    );
    const later = { status: 'abandoned', cancelled_at: expect.any(String) };
    expect((await stack.api.get(`/v1/cancellations/${id}`)).body).toMatchObject(later);
  });
});

it.each(['reported', 'never reported'])(
  'a refund after the end of its cancellation (%s) is booked by the next comparison with the wallet',
  async (how) => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'accepted', delay_ms: PAID_BY_HAND });
    if (how === 'never reported') await desk.simulator.onWebhook('refund.completed', { kind: 'lost' }, { count: null });
    const id = await desk.cancel(esimId, { on_unmet_conditions: 'cancel_without_refund' });
    expect((await desk.cancellationReaches(id, 'completed')).body).toMatchObject({ refund: { status: 'expected' } });
    if (how === 'never reported')
      await stack.database.run((db) => db.delete(refunds).where(eq(refunds.cancellationId, id)));
    await decide(esimId, 'complete');
    const refund = async () => (await stack.api.get(`/v1/cancellations/${id}`)).at('refund');
    const paid = { status: 'completed', amount: { amount: '2.40', currency: 'USD' } };
    await expect.poll(refund).toMatchObject(paid);
    const orderId = (await stack.api.get(`/v1/esims/${esimId}`)).textAt('order_id');
    const rows = await stack.database.run((db) => db.select().from(journal).where(eq(journal.causeId, orderId)));
    expect(rows).toMatchObject([{ causeKind: 'refund', direction: 'credit' }]);
    expect(await desk.cases(id)).toEqual([]);
  },
);

describe('a cancellation with an unknown outcome', () => {
  it('ignores the refund of an earlier refused cancellation', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.simulateEsim(await desk.esimAtService(esimId), 'consumed');
    const first = await desk.cancel(esimId, { on_unmet_conditions: 'cancel_without_refund' });
    await desk.cancellationReaches(first, 'refused');
    await desk.simulator.onRequest('cancelEsim', { kind: 'server_error' }, { count: null });
    const second = await desk.cancel(esimId, { on_unmet_conditions: 'cancel_without_refund' });
    expect(await attention(second)).toBe('service_not_answering');
    await abandon(second, 'service_not_answering');
  });

  it('in review is found by the reconciler when no event can report it', async () => {
    await frequentUpkeep(stack);
    const esimId = await desk.newEsim();
    await desk.simulator.dialect('conflicts');
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'manual_review' });
    await desk.simulator.onRequest('cancelEsim', { kind: 'accepted_but_answer_lost' });
    await desk.simulator.onRequest('getEsim', { kind: 'server_error' }, { nth: 2, count: null });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'needs_attention');
    await desk.simulator.calm();
    await waitFor('the review is known', async () => (await desk.attemptsOf(id))[0]!.state === 'processing');
    await decide(esimId, 'accept');
    expect((await desk.cancellationReaches(id, 'completed')).body).toMatchObject({ refund: { status: 'completed' } });
  });

  it('is not refused by an old event about the same eSIM', async () => {
    const esimId = await desk.newEsim();
    const refused = { status: 'failed', review: 'refused', amount: '2.40', currency: 'USD' };
    const data = { id: 'sr_old', esim_id: await desk.esimAtService(esimId), ...refused };
    await desk.simulator.sendWebhook({ event: 'refund.failed', data });
    const id = await desk.cancel(esimId);
    expect((await desk.cancellationReaches(id, 'completed')).body).toMatchObject({ refund: { status: 'completed' } });
  });
});
