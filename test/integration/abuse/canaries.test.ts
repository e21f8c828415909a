/** ASVS V14 and V16 (data protection, logging): places secrets and searches for them where they are forbidden. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { generateApiKey, generateShareSecret } from '#crypto/generated-secrets.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { everythingStored, foundIn, spellings } from '#test/support/plain-text.ts';
import { keyRingOf, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const SERVICE_PASSWORD = `canary-password-${randomUUID()}`;
const IMEI = '490154203237518';
const CUSTOMER = `canary-customer-${randomUUID()}`;
const ANSWER = `canary-answer-${randomUUID()}`;
const SHARE_GUESS = generateShareSecret();

const receiver = await WebhookReceiver.start();
const stack = await startStack({
  // The most detailed log level.
  environment: { ...RARE_UPKEEP, LOG_LEVEL: 'trace' },
  servicePassword: SERVICE_PASSWORD,
  simulator: { SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' },
});
const desk = new OrderDesk(stack);
const operator = await TemporalOperator.connect(stack);
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await stack.stop();
  await receiver[Symbol.asyncDispose]();
});

/** A webhook endpoint with a rotated secret. @returns its id, and both secrets. */
async function rotatedEndpoint() {
  const wanted = { url: receiver.url, event_types: ['order.*', 'topup.*'] };
  const made = await postOnce(stack.api, '/v1/webhook-endpoints', wanted);
  const id = made.textAt('id');
  const rotated = await postOnce(stack.api, `/v1/webhook-endpoints/${id}/rotate-secret`, {});
  const secrets = { 'secret of an endpoint': rotated.textAt('secret'), 'its former secret': made.textAt('secret') };
  return { id, secrets };
}

/** Waits until all deliveries of an endpoint are complete, and its workflow has ended. */
async function isDelivered(endpointId: string): Promise<void> {
  await waitFor(`all is delivered to ${endpointId}`, async () => {
    const log = await stack.api.get(`/v1/webhook-endpoints/${endpointId}/deliveries?limit=1`);
    const pending = await stack.api.get(`/v1/webhook-endpoints/${endpointId}/deliveries?status=pending`);
    return log.at('data', 0, 'status') === 'delivered' && pending.at('data', 0) === undefined;
  });
  await operator.runReaches(endpointId, 'COMPLETED');
}

/** The main secrets: those of the process environments, and those from the service. */
async function masterSecrets(): Promise<Record<string, string>> {
  const { environments, database, databaseUrl } = stack;
  const account = environments.worker['SERVICE_EMAIL'] ?? '';
  const store = new ServiceTokenStore({ database, keyRing: keyRingOf(stack), environment: 'sandbox', account });
  const keys = (environments.worker['ENCRYPTION_KEYS'] ?? '').split(',').flatMap((each, n) => {
    const key = each.slice(each.indexOf(':') + 1);
    const bytes = Buffer.from(key, 'base64').toString('hex');
    return [[`encryption key ${n}`, key] as const, [`bytes of encryption key ${n}`, bytes] as const];
  });
  return {
    'token of the service': (await store.read())?.token?.accessToken ?? '',
    ...Object.fromEntries(keys),
    'password of the database': decodeURIComponent(new URL(databaseUrl).password),
  };
}

describe('the placed secrets', () => {
  it('are found by the search in every encoding', () => {
    for (const spelling of [
      CUSTOMER,
      Buffer.from(CUSTOMER).toString('hex'),
      Buffer.from(`ab${CUSTOMER}c`).toString('base64'),
      Buffer.from(`a${CUSTOMER}`).toString('base64'),
    ]) {
      expect(foundIn(`x ${spelling} y`, { CUSTOMER })).toHaveLength(1);
    }
    expect(new Set(spellings('a b')).size).toBe(6);
  });

  it('appear in no log, history or table after work of every kind, webhooks, reveals and refusals', async () => {
    const { id: endpoint, secrets: endpointSecrets } = await rotatedEndpoint();
    receiver.answers.push((_request, response) => response.writeHead(500).end(ANSWER));
    // Each is held or fails once, so that failures and their details are stored as well.
    await desk.simulator.onRequest('createOrder', { kind: 'server_error' });
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 100 });
    await desk.simulator.onRequest('createVpnOrder', { kind: 'rate_limited', retry_after: 1 });
    await desk.simulator.onRequest('createTopup', { kind: 'rate_limited', retry_after: 1 });
    const order = await desk.complete(1001, { device_imei: IMEI, customer_reference: CUSTOMER });
    const subscription = await desk.subscribe(301, { customer_reference: CUSTOMER });
    const vpn = await desk.subscriptionReaches(subscription, 'active');
    const esim = order.textAt('esim_id');
    // Another eSIM than the cancelled one, which is to be refunded.
    const topupEsim = await desk.newEsim();
    const topup = await desk.topUp(topupEsim, PACKAGE.completedAtOnce);
    await desk.topupReaches(topup, 'completed');
    const terms = { reason: 'travels later', on_unmet_conditions: 'cancel_without_refund' };
    const cancellation = await desk.cancel(esim, terms);
    await desk.cancellationReaches(cancellation, 'completed', 'refused');

    const shared = await postOnce(stack.api, `/v1/esims/${topupEsim}/share-links`, {});
    const shareSecret = shared.textAt('path').slice('/e/'.length);
    const visitor = new HttpClient(stack.api.baseUrl);
    expect((await visitor.get(shared.textAt('path'))).text).toContain('smdp');
    expect((await visitor.get(`/e/${SHARE_GUESS}`)).status).toBe(404);

    const activation = await stack.api.get(`/v1/esims/${esim}/activation`);
    for (const format of ['svg', 'png'])
      expect((await stack.api.get(`/v1/esims/${esim}/qr.${format}`)).status).toBe(200);
    const access = await stack.api.get(`/v1/vpn/subscriptions/${vpn.textAt('id')}/access`);

    // Refused requests with the refused values.
    const guessed = generateApiKey().key;
    const stranger = new HttpClient(stack.api.baseUrl, { authorization: `Bearer ${guessed}` });
    expect((await stranger.get('/v1/orders')).status).toBe(401);
    const mistyped = `${IMEI.slice(0, 13)}x`;
    expect((await stack.order({ package_id: 1001, device_imei: mistyped })).status).toBe(400);
    expect((await stack.api.get(`/v1/orders?${CUSTOMER}=1`)).status).toBe(400);
    expect((await stack.api.get(`/v1/orders/${CUSTOMER}`)).status).toBe(404);
    const forged = { headers: { 'X-Service-Signature': 'v1=00' } };
    expect((await stack.api.post('/webhooks/service', { canary: CUSTOMER }, forged)).status).toBe(401);

    // Only verified deliveries count.
    const receivedTypes = () =>
      receiver.received.map((each) => WebhookReceiver.verified(each, endpointSecrets['secret of an endpoint']).type);
    await waitFor('the top-up event has arrived', () => receivedTypes().includes('topup.completed'));
    await isDelivered(endpoint);
    const log = await stack.api.get(`/v1/webhook-endpoints/${endpoint}/deliveries?limit=100`);
    expect(log.text).toContain(ANSWER);

    const secrets = {
      'activation code': activation.textAt('matching_id'),
      IMEI: IMEI,
      'mistyped IMEI': mistyped,
      'customer reference': CUSTOMER,
      'VPN user': access.textAt('username'),
      'VPN password': access.textAt('password'),
      'API key': stack.apiKey,
      'secret of the API key': stack.apiKey.split('_')[3] ?? '',
      'guessed API key': guessed,
      'secret of a share link': shareSecret,
      'guessed secret of a share link': SHARE_GUESS,
      'service password': SERVICE_PASSWORD,
      'webhook secret': stack.webhookSecret,
      ...endpointSecrets,
      // Receivers know them with a prefix. The rest is the signing key.
      ...Object.fromEntries(
        Object.entries(endpointSecrets).map(([name, secret]) => [`${name}, bare`, secret.slice('whsec_'.length)]),
      ),
      'answer of a receiver': ANSWER,
      ...(await masterSecrets()),
    };
    for (const [name, secret] of Object.entries(secrets)) expect([name, secret.length > 7]).toEqual([name, true]);

    const ids = [order.textAt('id'), vpn.textAt('id'), cancellation, topup, endpoint];
    const stored = await everythingStored(stack.databaseUrl);
    const written = (['api', 'worker'] as const).map((name) => stack.process(name).output()).join('\n');
    for (const id of ids) expect([id, stored.includes(id)]).toEqual([id, true]);
    // Only the hash of a key is stored, and it must be found.
    expect(stored).toContain(createHash('sha256').update(stack.apiKey).digest('hex'));
    expect(written).toContain('request answered');
    expect(foundIn(stored, secrets)).toEqual([]);
    expect(foundIn(written, secrets)).toEqual([]);
    for (const id of ids) {
      const traces = (await operator.rawTraces(id)).toString('latin1');
      expect([id, traces.includes(id), traces.includes('binary/encrypted')]).toEqual([id, true, true]);
      expect(foundIn(traces, secrets)).toEqual([]);
    }
  });
});
