import { describe, expect, it } from 'vitest';
import {
  startReceiver,
  startTestSimulator,
  type ReceivedWebhook,
  type SimulatorClient,
} from '#test/simulator/support.ts';
import { esimCancellation, serviceRefund } from '#upstream/contract.ts';

const cancelled = async (simulator: SimulatorClient, esim: string) =>
  (await simulator.cancel(esim)).read(esimCancellation);
const refundOf = async (simulator: SimulatorClient, id: string) =>
  (await simulator.sandbox.get(`/refunds/${id}`)).read(serviceRefund);
const rule = async (simulator: SimulatorClient, outcome: string, more: Record<string, unknown> = {}) =>
  simulator.admin.post('/behaviour', { operation: 'cancellation', outcome, count: 1, ...more });
const refundCredits = async (simulator: SimulatorClient) =>
  (await simulator.ledger()).filter(({ reason }) => reason === 'refund');
const dataOf = ({ body }: ReceivedWebhook): unknown => (JSON.parse(body.toString()) as { data: unknown }).data;

describe('the cancellation of an unused eSIM', () => {
  it('is accepted: the eSIM is cancelled, the debit is credited once, and events announce both', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const order = await simulator.order({ external_order_id: 'ref' });
    const [id, esim] = [order.textAt('id'), order.textAt('esim_id')];
    const answer = await cancelled(simulator, esim);
    expect(answer).toMatchObject({
      esim_id: esim,
      status: 'cancelled',
      refund: { status: 'completed', review: 'accepted', amount: '2.40', order_id: id, unmet_conditions: [] },
    });
    expect((await simulator.sandbox.get(`/esims/${esim}`)).at('status')).toBe('cancelled');
    expect(await refundOf(simulator, answer.refund?.id ?? '')).toEqual(answer.refund);
    expect(await refundCredits(simulator)).toMatchObject([
      {
        type: 'credit',
        amount: '2.40',
        refund_id: answer.refund?.id,
        esim_id: esim,
        order_id: id,
        external_order_id: 'ref',
      },
    ]);
    expect(await simulator.balance()).toBe('100000.00');
    const [, ...events] = await receiver.count(3);
    expect(events.map(({ event }) => event)).toEqual(['esim.cancelled', 'refund.completed']);
    expect(events[0] && esimCancellation.parse(dataOf(events[0]))).toEqual(answer);
    expect(events[1] && serviceRefund.parse(dataOf(events[1]))).toEqual(answer.refund);
  });

  it('is refused a second time with another key, and answered again with the same', async () => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    const first = await simulator.cancel(esim, 'key');
    expect((await simulator.cancel(esim, 'key')).text).toBe(first.text);
    const again = await simulator.cancel(esim);
    expect([again.status, again.at('error', 'code')]).toEqual([409, 'already_cancelled']);
    expect(await refundCredits(simulator)).toHaveLength(1);
  });
});

describe('each of the five conditions', () => {
  const evaluated = async (prepare: (simulator: SimulatorClient, esim: string) => Promise<unknown>) => {
    await using simulator = await startTestSimulator();
    const esim = await simulator.esim();
    await prepare(simulator, esim);
    const before = await simulator.balance();
    const answer = await cancelled(simulator, esim);
    if (answer.refund?.status !== 'completed') expect(await simulator.balance()).toBe(before);
    return [answer.status, answer.refund?.review, answer.refund?.unmet_conditions];
  };

  it('never installed: a profile on a phone goes to manual review', async () => {
    expect(await evaluated(async (simulator, esim) => simulator.simulate(esim, 'installed'))).toEqual([
      'processing',
      'manual_review',
      ['never_installed'],
    ]);
  });

  it.each(['active', 'consumed'])('usage zero and never activated: an %s eSIM is refused', async (state) => {
    expect(await evaluated(async (simulator, esim) => simulator.simulate(esim, state))).toEqual([
      'refused',
      'refused',
      ['usage_is_zero', 'never_installed', 'never_activated'],
    ]);
  });

  it('no completed top-up: else a refusal', async () => {
    expect(await evaluated(async (simulator, esim) => simulator.topUp(esim))).toEqual([
      'refused',
      'refused',
      ['no_completed_topup'],
    ]);
    expect(await evaluated(async (simulator, esim) => simulator.topUp(esim, 9003))).toEqual([
      'cancelled',
      'accepted',
      [],
    ]);
  });

  it('debit verified: else a review', async () => {
    expect(await evaluated(async (simulator) => simulator.admin.post('/dialect', { name: 'late_debits' }))).toEqual([
      'processing',
      'manual_review',
      ['debit_verified'],
    ]);
  });
});

describe('a refused cancellation', () => {
  it('fails its refund, and may be requested again', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const esim = await simulator.esim();
    await simulator.simulate(esim, 'active');
    const answer = await cancelled(simulator, esim);
    expect(answer).toMatchObject({ status: 'refused', refund: { status: 'failed', review: 'refused' } });
    expect((await simulator.sandbox.get(`/esims/${esim}`)).at('status')).toBe('active');
    expect((await receiver.count(2)).map(({ event }) => event)).toEqual(['order.completed', 'refund.failed']);
    const again = await cancelled(simulator, esim);
    expect(again.refund?.id).not.toBe(answer.refund?.id);
    const listed = await simulator.sandbox.get(`/refunds?esim_id=${esim}`);
    expect([listed.at('data', 0, 'id'), listed.at('data', 1, 'id')]).toEqual([again.refund?.id, answer.refund?.id]);
    expect((await simulator.sandbox.get('/refunds?esim_id=other')).at('data')).toEqual([]);
    expect((await simulator.production.get(`/refunds/${again.refund?.id}`)).status).toBe(404);
  });
});

describe('a manual review', () => {
  it('is decided by the admin API, once', async () => {
    await using simulator = await startTestSimulator();
    const decide = async (verb: string) => {
      const esim = await simulator.esim();
      await simulator.simulate(esim, 'installed');
      const id = (await cancelled(simulator, esim)).refund?.id ?? '';
      expect((await simulator.cancel(esim)).at('error', 'code')).toBe('esim_busy');
      expect((await simulator.admin.post(`/refunds/${id}/complete`)).status).toBe(409);
      await simulator.admin.post(`/refunds/${id}/${verb}`);
      for (const late of ['accept', 'refuse', 'complete', 'fail']) {
        expect((await simulator.admin.post(`/refunds/${id}/${late}`)).status).toBe(409);
      }
      const status = (await simulator.sandbox.get(`/esims/${esim}`)).at('status');
      return [await refundOf(simulator, id), status] as const;
    };
    expect(await decide('accept')).toMatchObject([{ status: 'completed', review: 'accepted' }, 'cancelled']);
    expect(await decide('refuse')).toMatchObject([{ status: 'failed', review: 'refused' }, 'installed']);
    expect(await refundCredits(simulator)).toHaveLength(1);
    expect((await simulator.admin.post('/refunds/nobody/accept')).status).toBe(404);
  });

  it('is decided at its due time, by the conditions at that time', async () => {
    await using simulator = await startTestSimulator({ reviewDelayMs: 3_600_000 });
    const [kept, used] = [await simulator.esim(), await simulator.esim()];
    for (const esim of [kept, used]) await simulator.simulate(esim, 'installed');
    const ids = [
      (await cancelled(simulator, kept)).refund?.id ?? '',
      (await cancelled(simulator, used)).refund?.id ?? '',
    ];
    // The usage grows during the review.
    await simulator.simulate(used, 'active');
    await simulator.advance(3_500_000);
    expect((await refundOf(simulator, ids[0] ?? '')).status).toBe('processing');
    await simulator.advance(100_000);
    await expect.poll(async () => (await refundOf(simulator, ids[0] ?? '')).status).toBe('completed');
    await expect.poll(async () => (await refundOf(simulator, ids[1] ?? '')).review).toBe('refused');
    expect((await simulator.sandbox.get(`/esims/${used}`)).at('status')).toBe('active');
    expect(await refundCredits(simulator)).toHaveLength(1);
  });
});

describe('a behaviour rule for cancellations', () => {
  it('refund_failed: the eSIM is cancelled and no credit comes', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    await rule(simulator, 'refund_failed');
    const answer = await cancelled(simulator, await simulator.esim());
    expect(answer).toMatchObject({ status: 'cancelled', refund: { status: 'failed', review: 'accepted' } });
    const events = (await receiver.count(3)).map(({ event }) => event);
    expect(events).toEqual(['order.completed', 'esim.cancelled', 'refund.failed']);
    expect(await refundCredits(simulator)).toHaveLength(0);
    await rule(simulator, 'refund_failed', { delay_ms: 60_000 });
    const later = (await cancelled(simulator, await simulator.esim())).refund?.id ?? '';
    expect((await refundOf(simulator, later)).status).toBe('processing');
    await simulator.advance(60_000);
    await expect.poll(async () => (await refundOf(simulator, later)).status).toBe('failed');
  });

  it.each([
    ['processing_then_accepted', null, 'completed'],
    ['manual_review_then_accepted', 'manual_review', 'completed'],
    ['manual_review_then_refused', 'manual_review', 'failed'],
  ])('%s: decided after its delay', async (outcome, review, status) => {
    await using simulator = await startTestSimulator();
    await rule(simulator, outcome, { delay_ms: 60_000 });
    const answer = await cancelled(simulator, await simulator.esim());
    expect(answer).toMatchObject({ status: 'processing', refund: { status: 'processing', review } });
    await simulator.advance(60_000);
    await expect.poll(async () => (await refundOf(simulator, answer.refund?.id ?? '')).status).toBe(status);
  });
});
