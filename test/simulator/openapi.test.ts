import { describe, expect, it } from 'vitest';
import { Description, documentShape } from '#test/simulator/described.ts';
import { startReceiver, startTestSimulator } from '#test/simulator/support.ts';
import { ENDPOINTS, EVENT_KINDS } from '#upstream/contract.ts';

const operationsOf = ({ document: { paths } }: Description): string[] =>
  Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));

describe('the OpenAPI document', () => {
  it('has every call of the contract', async () => {
    await using simulator = await startTestSimulator();
    const sandbox = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const production = new Description((await simulator.production.get('/openapi.json')).read(documentShape));
    const all = Object.keys(ENDPOINTS).toSorted();
    expect(operationsOf(sandbox).toSorted()).toEqual(all);
    expect(operationsOf(production).toSorted()).toEqual(all.filter((name) => name !== 'simulateEsim'));
    expect(Object.keys(sandbox.document.webhooks).toSorted()).toEqual(EVENT_KINDS.toSorted());
  });
});

describe('every event', () => {
  it('is sent with a body as in the document', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhookUrl: receiver.url, webhookSecret: 'whsec_test' });
    await simulator.admin.post('/webhooks/ping');
    const esims = [await simulator.esim(), await simulator.esim(), await simulator.esim()];
    await simulator.order({ package_id: 9002 });
    await simulator.topUp(esims[0] ?? '', 9001);
    await simulator.topUp(esims[1] ?? '', 9003);
    await simulator.cancel(esims[2] ?? '');
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'refund_failed', count: 1 });
    await simulator.cancel(await simulator.esim());
    const subscription = (await simulator.orderVpn()).textAt('id');
    await simulator.sandbox.post(`/vpn/subscriptions/${subscription}/cancel`);
    await simulator.orderVpn({ vpn_plan_id: 393 });
    const expiring = (await simulator.orderVpn()).textAt('id');
    await simulator.admin.post(`/vpn-subscriptions/${expiring}/expire`);

    const description = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const kinds = (): string[] => [...new Set(receiver.received.map(({ event }) => event))].toSorted();
    await expect.poll(kinds).toEqual(EVENT_KINDS.toSorted());
    for (const { event, body } of receiver.received) {
      expect(description.judgeWebhook(event, JSON.parse(body.toString())), event).toBe('valid');
    }
    expect(receiver.received.map(({ body }) => body.toString()).join()).not.toContain('"access"');
  });
});
