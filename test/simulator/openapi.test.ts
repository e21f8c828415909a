import { describe, expect, it } from 'vitest';
import { Description, descriptionOf, documentShape } from '#test/simulator/described.ts';
import { startReceiver, startTestSimulator } from '#test/simulator/support.ts';
import { ENDPOINTS, EVENT_KINDS } from '#upstream/contract.ts';

const operationsOf = (description: Description): string[] =>
  Object.values(description.document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );

describe('the OpenAPI document', () => {
  it('has every call of the contract', async () => {
    await using simulator = await startTestSimulator();
    const sandbox = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const production = new Description((await simulator.production.get('/openapi.json')).read(documentShape));
    const all = Object.keys(ENDPOINTS).toSorted();
    expect(operationsOf(sandbox).toSorted()).toEqual(all);
    expect(operationsOf(production).toSorted()).toEqual(all.filter((name) => name !== 'simulateEsim'));
    expect(Object.keys(sandbox.document.webhooks).toSorted()).toEqual(EVENT_KINDS.toSorted());
    // All tests validate their answers by these documents.
    expect(sandbox.document).toEqual(descriptionOf('sandbox').document);
    expect(production.document).toEqual(descriptionOf('production').document);
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

    const kinds = (): string[] => [...new Set(receiver.received.map(({ event }) => event))].toSorted();
    await expect.poll(kinds).toEqual(EVENT_KINDS.toSorted());
    for (const { event, body } of receiver.received) {
      expect([event, descriptionOf('sandbox').judgeWebhook(event, JSON.parse(body.toString()))]).toEqual([
        event,
        'valid',
      ]);
    }
    expect(receiver.received.map(({ body }) => body.toString()).join()).not.toContain('"access"');
  });

  it('has a body without its name in the dialect silent_bodies, as described', async () => {
    await using simulator = await startTestSimulator({ dialect: 'silent_bodies' });
    const description = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const body = JSON.parse((await simulator.admin.post('/webhooks/ping')).textAt('body')) as Record<string, unknown>;
    expect(body).not.toHaveProperty('event');
    expect(description.judgeWebhook('ping', body)).toBe('valid');
    expect(descriptionOf('sandbox').judgeWebhook('ping', body)).not.toBe('valid');
  });
});
