import { describe, expect, it } from 'vitest';
import { postOnce } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { reconcileBooks } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const simulator = { SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP }, simulator }));
const desk = checkedDesk(stack);

const sendsOf = (id: string) => desk.sendsTo('cancelEsim', id);
const read = (id: string) => stack.api.get(`/v1/cancellations/${id}`);
/** Acts as an operator, which must succeed. */
async function act(id: string, action: string, body: Record<string, unknown>): Promise<void> {
  const answer = await stack.api.post(`/v1/cancellations/${id}/${action}`, { reason: 'test', ...body });
  expect(answer.status, answer.text).toBe(200);
}

/** Cancels an eSIM, and the service reviews the refund. @param esimId our id. @returns the id of the cancellation. */
async function cancelForReview(esimId: string): Promise<string> {
  await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'manual_review' });
  return desk.cancel(esimId);
}

const refundIsInReview = (id: string) =>
  waitFor('the refund is in review', async () => (await read(id)).at('refund', 'status') === 'manual_review');
/** The service decides about the first refund of an eSIM. @param esimId our id. */
const decide = async (esimId: string, decision: 'accept' | 'refuse') =>
  desk.simulator.decideRefund((await desk.refundsAtService(esimId))[0]!.id, decision);

/** The results of the conditions of a refund, as they were before the send. */
const conditionsOf = (cancellation: { readonly body: unknown }) =>
  (cancellation.body as { preflight: { result: string }[] }).preflight.map(({ result }) => result);

/** The service sends no webhooks and shows no refunds. */
async function silenceRefunds(): Promise<void> {
  await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  for (const endpoint of ['getRefund', 'listRefunds'] as const)
    await desk.simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
}

describe('the cancellation of an eSIM', () => {
  it('is completed once the refund is in the wallet', async () => {
    const esimId = await desk.newEsim();
    const id = await desk.cancel(esimId, { reason: 'travels later' });
    const cancellation = await desk.cancellationReaches(id, 'completed');
    const asked = { esim_id: esimId, reason: 'travels later', operations: { attempts: 1 }, failure: null };
    const refund = { status: 'completed', review: 'accepted', amount: { amount: '2.40', currency: 'USD' } };
    expect(cancellation.body).toMatchObject({ ...asked, refund });
    expect(conditionsOf(cancellation)).toEqual(Array(5).fill('pass'));
    expect((await stack.api.get(`/v1/esims/${esimId}`)).body).toMatchObject({ status: 'cancelled' });
    expect(await sendsOf(id)).toHaveLength(1);
    expect(await desk.events(id)).toEqual(
      expect.arrayContaining([
        'cancellation.accepted',
        'attempt.prepared',
        'attempt.accepted',
        'cancellation.esim_cancelled',
        'refund.completed',
        'cancellation.completed',
      ]),
    );
    const told = /its refund is in the wallet: the credit \S+ of 20[^"]*Z\./;
    expect((await stack.api.get(`/v1/cancellations/${id}/timeline`)).text).toMatch(told);
  });

  it('is not sent while a condition cannot be read, and continues once it can', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.onRequest('getEsimUsage', { kind: 'server_error' }, { count: null });
    const id = await desk.cancel(esimId);
    const held = await desk.cancellationReaches(id, 'held');
    expect(held.at('operations', 'next_step_at')).not.toBeNull();
    expect(held.textAt('failure', 'detail')).toContain('usage_is_zero');
    expect(await sendsOf(id)).toEqual([]);
    await desk.simulator.calm();
    await act(id, 'retry', {});
    expect((await desk.cancellationReaches(id, 'completed')).body).toMatchObject({ refund: { status: 'completed' } });
    expect(await sendsOf(id)).toHaveLength(1);
  });

  it('waits for a running top-up of the eSIM, and is then judged by the result of the top-up', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'topup', outcome: 'stay_processing' });
    const topup = await desk.topUp(esimId, 1001);
    await desk.topupReaches(topup, 'processing');
    const id = await desk.cancel(esimId);
    expect((await desk.cancellationReaches(id, 'held')).body).toMatchObject({ failure: { class: 'esim_busy' } });
    expect(await sendsOf(id)).toEqual([]);
    const underWay = (await desk.simulator.topups()).find(({ status }) => status === 'processing');
    await desk.simulator.completeTopup(underWay!.id);
    await desk.topupReaches(topup, 'completed');
    const refused = { failure: { class: 'refund_not_expected' }, refund: null, cancelled_at: null };
    expect((await desk.cancellationReaches(id, 'refused')).body).toMatchObject(refused);
    expect(await sendsOf(id)).toEqual([]);
  });

  it('with cancel_without_refund is sent to the service, and its answer decides', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.simulateEsim(await desk.esimAtService(esimId), 'consumed');
    const refused = await desk.cancel(esimId, { on_unmet_conditions: 'cancel_without_refund' });
    const answer = await desk.cancellationReaches(refused, 'refused');
    expect(answer.body).toMatchObject({ failure: { class: 'cancellation_refused' }, operations: { attempts: 1 } });
    // After a refusal, another cancellation can be created.
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const id = await desk.cancel(esimId, { on_unmet_conditions: 'cancel_without_refund' });
    expect((await desk.cancellationReaches(id, 'completed')).body).toMatchObject({ refund: { status: 'failed' } });
  });

  it('with ask_for_review is sent for review, and needs attention if it brings no refund', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.simulateEsim(await desk.esimAtService(esimId), 'installed');
    const ask = { on_unmet_conditions: 'ask_for_review' };
    const reviewed = await desk.cancel(esimId, ask);
    await refundIsInReview(reviewed);
    expect(conditionsOf(await read(reviewed))).toContain('fail');
    await decide(esimId, 'refuse');
    await desk.cancellationReaches(reviewed, 'refused');
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const unpaid = await desk.cancel(esimId, ask);
    const attention = { reason: 'refund_failed' };
    const withCase = await desk.cancellationReaches(unpaid, 'needs_attention');
    expect(withCase.body).toMatchObject({ ...ask, attention, operations: { attention } });
    const told = (await stack.api.get(`/v1/cancellations/${unpaid}/timeline`)).text;
    expect(told).toContain('"attention_reason":"refund_failed"');
  });

  it('exists once per eSIM: a second one and its preflight are refused with the address of the first', async () => {
    const esimId = await desk.newEsim();
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'completed');
    for (const { status, body } of [
      await postOnce(stack.api, `/v1/esims/${esimId}/cancel`, {}),
      await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`),
    ]) {
      const existing = { id, href: `/v1/cancellations/${id}` };
      expect([status, body]).toMatchObject([409, { code: 'cancellation_exists', existing }]);
    }
  });

  it('under review waits for the decision of the service and is then refunded', async () => {
    const esimId = await desk.newEsim();
    const id = await cancelForReview(esimId);
    await refundIsInReview(id);
    // Other work of the eSIM is held meanwhile.
    const topup = await desk.topUp(esimId, 1001);
    expect((await desk.topupReaches(topup, 'held')).body).toMatchObject({ failure: { class: 'esim_busy' } });
    await decide(esimId, 'accept');
    await desk.cancellationReaches(id, 'completed');
    expect((await desk.topupReaches(topup, 'failed')).body).toMatchObject({ failure: { class: 'topup_not_offered' } });
  });

  it('refused in review ends as refused, and frees the eSIM', async () => {
    const esimId = await desk.newEsim();
    const refused = await cancelForReview(esimId);
    await desk.cancellationReaches(refused, 'processing');
    await decide(esimId, 'refuse');
    expect((await desk.cancellationReaches(refused, 'refused')).at('failure', 'class')).toBe('cancellation_refused');
    // A second cancellation of it gets the refund.
    const paid = await desk.cancel(esimId);
    await desk.cancellationReaches(paid, 'completed');
    await reconcileBooks(stack);
    const refunds = [await read(refused), await read(paid)];
    expect(refunds.map((each) => each.at('refund', 'status'))).toEqual(['failed', 'completed']);
  });
});

describe('a refund', () => {
  it('without any report is completed by its credit', async () => {
    const esimId = await desk.newEsim();
    // Only the state of the eSIM shows that it is cancelled.
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onRequest('cancelEsim', { kind: 'accepted_but_answer_lost' });
    await silenceRefunds();
    const id = await desk.cancel(esimId);
    await waitFor('it is known to be cancelled', async () => (await read(id)).at('cancelled_at') !== null);
    await reconcileBooks(stack);
    const { body } = await desk.cancellationReaches(id, 'completed');
    expect(body).toMatchObject({ refund: { status: 'completed', amount: { amount: '2.40', currency: 'USD' } } });
    expect(await desk.cases(id)).toEqual([]);
  });

  it('with reversed events is completed once', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.onRequest('cancelEsim', { kind: 'accepted_but_answer_lost' });
    await desk.simulator.onWebhook('esim.cancelled', { kind: 'late', ms: 1_500 });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'completed');
    const reports = async () => (await desk.inbox(id)).filter(({ source }) => source === 'webhook');
    await expect.poll(async () => (await reports()).map(({ state }) => state)).toEqual(['applied', 'applied']);
    expect(await desk.cases(id)).toEqual([]);
  });

  it('that fails needs attention until it is written off', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const id = await desk.cancel(esimId);
    const unpaid = { operations: { attention: { reason: 'refund_failed' } }, refund: { status: 'needs_attention' } };
    expect((await desk.cancellationReaches(id, 'needs_attention')).body).toMatchObject(unpaid);
    await act(id, 'resolve', { case: 'refund_failed', verdict: 'dismissed' });
    expect((await desk.cancellationReaches(id, 'completed')).body).toMatchObject({ refund: { status: 'failed' } });
    expect(await desk.cases(id)).toEqual([{ reason: 'refund_failed', open: false }]);
  });
});

it('a cancellation with a lost answer is sent again with the same key, and cancels once', async () => {
  const esimId = await desk.newEsim();
  await silenceRefunds();
  await desk.simulator.onRequest('cancelEsim', { kind: 'accepted_but_answer_lost' });
  const id = await desk.cancel(esimId);
  await desk.cancellationReaches(id, 'completed');
  expect(await sendsOf(id)).toHaveLength(2);
  expect(await desk.refundsAtService(esimId)).toHaveLength(1);
});
