import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { inbox } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const simulator = { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP }, simulator }));
const desk = checkedDesk(stack);

const sendsOf = (topupId: string) => desk.sendsTo('createTopup', topupId);
/** The top-ups of an eSIM at the service. @param esimId our id. */
async function rechargesOf(esimId: string) {
  const esim = await desk.esimAtService(esimId);
  return (await desk.simulator.topups()).filter(({ esim_id: id }) => id === esim);
}

/** The service completes the first top-up of an eSIM. @param esimId our id. */
const completes = async (esimId: string) => desk.simulator.completeTopup((await rechargesOf(esimId))[0]!.id);

async function refuseLookUps(): Promise<void> {
  for (const endpoint of ['getTopup', 'listTopups'] as const)
    await desk.simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
}

/** The service rejects look-ups and repeated keys, and the answer to the next top-up is lost. */
async function loseTopupAnswer(): Promise<void> {
  await refuseLookUps();
  await desk.simulator.dialect('conflicts');
  await desk.simulator.onRequest('createTopup', { kind: 'accepted_but_answer_lost' });
}

const isReportStored = (serviceId: string, state: 'pending' | 'unmatched') =>
  stack.database.run(async (db) =>
    (await db.select().from(inbox).where(eq(inbox.serviceId, serviceId))).some((row) => row.state === state),
  );

describe('a top-up', () => {
  it('completed at once costs one debit and one send', async () => {
    const esimId = await desk.newEsim();
    // Without webhooks, only its answer reports the completion.
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.topUp(esimId, 1002, { external_topup_id: `t-${randomUUID()}` });
    const topup = await desk.topupReaches(id, 'completed');
    const bought = { esim_id: esimId, package_id: 1002, charged: { amount: '5.10', currency: 'USD' } };
    expect(topup.body).toMatchObject({ ...bought, operations: { attempts: 1 }, failure: null });
    expect(topup.textAt('service_topup_id')).toBe((await rechargesOf(esimId))[0]!.id);
    expect(await sendsOf(id)).toHaveLength(1);
    const events = ['topup.accepted', 'attempt.prepared', 'attempt.accepted', 'topup.completed'];
    expect(await desk.events(id)).toEqual(events);
    expect(await desk.inbox(id)).toEqual([]);
  });

  it('is completed by a webhook without a look-up', async () => {
    const esimId = await desk.newEsim();
    await refuseLookUps();
    const id = await desk.topUp(esimId, PACKAGE.staysProcessing);
    await desk.topupReaches(id, 'processing');
    await completes(esimId);
    await desk.topupReaches(id, 'completed');
    const completion = { source: 'webhook', outcome: 'completed', decision: 'advance' };
    expect(await desk.inbox(id)).toContainEqual(expect.objectContaining(completion));
  });

  it('gets a new attempt after its failure and credit', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'topup', outcome: 'processing_then_failed', delay_ms: 200 });
    const topup = await desk.topupReaches(await desk.topUp(esimId, 1001), 'completed');
    expect(topup.body).toMatchObject({ operations: { attempts: 2 } });
    expect((await rechargesOf(esimId)).map(({ status }) => status).toSorted()).toEqual(['completed', 'failed']);
  });

  it('with a package outside of the options of its eSIM fails without a send', async () => {
    const esimId = await desk.newEsim();
    const refused = await desk.tryTopUp(esimId, 2003);
    expect([refused.status, refused.at('code')]).toEqual([422, 'purchase_not_possible']);
    // The API cannot read the options, so the purchase meets them.
    await desk.simulator.onRequest('listTopupOptions', { kind: 'server_error' });
    const topup = await desk.topupReaches(await desk.topUp(esimId, 2003), 'failed');
    expect(topup.body).toMatchObject({ failure: { class: 'topup_not_offered' } });
    expect(await sendsOf(topup.textAt('id'))).toEqual([]);
  });

  it('above its price limit is held, and continues when the limit is raised', async () => {
    const esimId = await desk.newEsim();
    const id = await desk.topUp(esimId, 1002, { max_price: { amount: '5.09', currency: 'USD' } });
    expect((await desk.topupReaches(id, 'held')).body).toMatchObject({ failure: { class: 'price_above_limit' } });
    expect(await sendsOf(id)).toEqual([]);
    const change = { reason: 'agreed', max_price: { amount: '5.10', currency: 'USD' } };
    expect((await stack.api.patch(`/v1/topups/${id}/limit`, change)).status).toBe(200);
    await desk.topupReaches(id, 'completed');
  });

  it('is held during another one of the same eSIM, and continues when that one has ended', async () => {
    const esimId = await desk.newEsim();
    const first = await desk.topUp(esimId, PACKAGE.staysProcessing);
    await desk.topupReaches(first, 'processing');
    const second = await desk.topUp(esimId, 1001);
    expect((await desk.topupReaches(second, 'held')).body).toMatchObject({ failure: { class: 'esim_busy' } });
    expect(await sendsOf(second)).toEqual([]);
    // Work of another eSIM continues.
    await desk.topupReaches(await desk.topUp(await desk.newEsim(), 1001), 'completed');
    await completes(esimId);
    await desk.topupReaches(first, 'completed');
    await desk.topupReaches(second, 'completed');
  });
});

describe('a top-up with a lost answer', () => {
  it('is processing after its webhook, without a look-up', async () => {
    const esimId = await desk.newEsim();
    await loseTopupAnswer();
    const id = await desk.topUp(esimId, PACKAGE.staysProcessing);
    await desk.topupReaches(id, 'processing');
    expect(await desk.inbox(id)).toMatchObject([{ source: 'webhook', outcome: 'processing', decision: 'advance' }]);
    await completes(esimId);
    await desk.topupReaches(id, 'completed');
  });

  it('is not matched with a failed top-up made outside of the product, and gets no new attempt', async () => {
    const esimId = await desk.newEsim();
    await loseTopupAnswer();
    await desk.simulator.onWebhook('topup.completed', { kind: 'lost' }, { count: null });
    const id = await desk.topUp(esimId, 1001);
    await waitFor('it was sent', async () => (await rechargesOf(esimId)).length === 1);
    const data = { id: 'st-by-hand', esim_id: await desk.esimAtService(esimId), package_id: 1001, status: 'failed' };
    await desk.simulator.sendWebhook({ environment: 'sandbox', event: 'topup.failed', data });
    await waitFor('the report is unmatched', () => isReportStored('st-by-hand', 'unmatched'));
    await desk.simulator.calm();
    await desk.topupReaches(id, 'completed');
    expect(await rechargesOf(esimId)).toHaveLength(1);
    expect(await desk.attemptsOf(id)).toHaveLength(1);
  });

  it('is found by its eSIM, because it has no reference, and not matched with an earlier one of the same package', async () => {
    const esimId = await desk.newEsim();
    const earlier = await desk.topupReaches(await desk.topUp(esimId, 1001), 'completed');
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createTopup', { kind: 'accepted_but_answer_lost' });
    const later = await desk.topupReaches(await desk.topUp(esimId, 1001), 'completed');
    expect(await desk.events(later.textAt('id'))).toContain('attempt.found');
    expect(later.textAt('service_topup_id')).not.toBe(earlier.textAt('service_topup_id'));
    expect(await rechargesOf(esimId)).toHaveLength(2);
  });

  it('needs attention without look-ups and resends, and blocks other top-ups of its eSIM', async () => {
    const esimId = await desk.newEsim();
    await loseTopupAnswer();
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.topUp(esimId, 1001);
    const withCase = await desk.topupReaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'service_not_answering' } } });
    await using operator = await TemporalOperator.connect(stack);
    const shown = await operator.showsStage(id, 'needs_attention');
    expect(shown).toMatchObject({
      product: 'esim-topup',
      needsAttention: true,
      attentionReason: 'service_not_answering',
      failureClass: expect.any(String),
    });
    expect(shown.details).toMatch(/^### ⚠ needs_attention[^]*\*\*Case\*\* `service_not_answering`/);
    const next = await desk.topUp(esimId, 1001);
    await desk.topupReaches(next, 'held');
    expect((await stack.api.post(`/v1/topups/${next}/abandon`, { reason: 'not now' })).status).toBe(200);

    const [sold] = await rechargesOf(esimId);
    const bought = { case: 'service_not_answering', verdict: 'bought', service_topup_id: sold!.id };
    // The verdict reads the charge from the service.
    await desk.simulator.calm();
    const verdict = { reason: 'seen in their console', ...bought };
    expect((await stack.api.post(`/v1/topups/${id}/resolve`, verdict)).status).toBe(200);
    const completed = await desk.topupReaches(id, 'completed');
    expect(completed.body).toMatchObject({ charged: { amount: '2.40', currency: 'USD' } });
    expect(await rechargesOf(esimId)).toHaveLength(1);
  });

  it('allows no verdict not_bought while a report about its eSIM waits for processing', async () => {
    const esimId = await desk.newEsim();
    await loseTopupAnswer();
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.topUp(esimId, 1001);
    await desk.topupReaches(id, 'needs_attention');
    await stack.kill('worker');
    const [sold] = await rechargesOf(esimId);
    const [lost] = await desk.simulator.webhooks(sold!.id);
    await desk.simulator.replayDelivery(lost!.id);
    await waitFor('the report of the service is stored', () => isReportStored(sold!.id, 'pending'));
    const verdict = { reason: 'a test', case: 'service_not_answering', verdict: 'not_bought' };
    const judged = await stack.api.post(`/v1/topups/${id}/resolve`, verdict);
    await stack.start('worker');
    expect([judged.status, judged.at('refusal')]).toEqual([409, 'observations_pending']);
    await desk.simulator.calm();
    await desk.topupReaches(id, 'completed');
    expect(await rechargesOf(esimId)).toHaveLength(1);
  });
});
