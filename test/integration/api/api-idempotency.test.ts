/**
 * The promises of docs/reference/api.md about the Idempotency-Key, for each call that takes one. Every other POST and
 * DELETE is listed with the reason why it needs none.
 */
import { randomUUID } from 'node:crypto';
import { eq, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import { forgetAnswers } from '#db/queues/idempotency.ts';
import * as schema from '#db/schema.ts';
import { proveAfterDocument } from '#fulfilment/gate/drift.ts';
import { apiOfFile, changeOrder } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput, vpnInput } from '#test/support/api/order-calls.ts';
import { GERMANY } from '#test/support/api/pricing-rules.ts';
import { sharedEsim } from '#test/support/api/share-links.ts';
import { idleService, startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const service = {
  ...idleService,
  createWebhookSecret: async () => ({ ok: true, status: 201, value: { secret: 'whsec_created' } }) as const,
  rotateWebhookSecret: async () => ({ ok: true, status: 200, value: { secret: 'whsec_rotated' } }) as const,
};

const { api, caller } = await apiOfFile({ service });
const work = await makeOwnWork(api, caller);
// An abandoned cancellation frees its eSIM for another one.
await api.database.run((db) => db.update(schema.cancellations).set({ status: 'abandoned' }));
const sharedEsimId = await sharedEsim(api);
await api.database.transaction((tx) => proveAfterDocument(tx, 'order', TEST_NOW));
const SHOP = 'https://shop.example.com';
const otherEndpoint = await postOnce(caller, '/v1/webhook-endpoints', { url: `${SHOP}/other` });

interface Request {
  readonly method?: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/**
 * An accepted request, and another one that must not use its key: with another body, or, without a body, at another
 * address.
 */
type Pair = readonly [request: Request, another: Request];

const bodies = (path: string, body: object, other: object): Pair => [
  { path, body },
  { path, body: other },
];
const packages = (path: string, body: object) =>
  bodies(path, { ...body, package_id: 101 }, { ...body, package_id: 102 });
const endpoint = (act: string, id = work.ids.webhookEndpoint) => `/v1/webhook-endpoints/${id}/${act}`;
const since = '2030-01-31T00:00:00Z';
const rule = (country: string) => ({ ...GERMANY, target: { kind: 'country', country } });
const batchOf = (quantity: number) => ({ external_batch_id: 'idempotent', items: [{ package_id: 101, quantity }] });
const vpn = vpnInput();
const SECRET = '/v1/service/webhook-secret';
const afterDrift = (kind: string): Request => ({
  method: 'DELETE',
  path: `/v1/purchase-gate/drift-stops/${kind}?reason=Repaired.`,
});

/** One for each call that takes an Idempotency-Key. A new call without a row fails. */
const PAIRS: Readonly<Record<string, Pair>> = {
  createOrder: packages('/v1/orders', { external_order_id: 'idempotent' }),
  createOrderBatch: bodies('/v1/order-batches', batchOf(2), batchOf(3)),
  createTopup: packages('/v1/topups', { esim_id: work.ids.esim }),
  createVpnSubscription: bodies('/v1/vpn/subscriptions', vpn, { ...vpn, customer_reference: 'C-2' }),
  cancelEsim: bodies(`/v1/esims/${work.ids.esim}/cancel`, {}, { on_unmet_conditions: 'cancel_without_refund' }),
  createWebhookEndpoint: bodies('/v1/webhook-endpoints', { url: `${SHOP}/1` }, { url: `${SHOP}/2` }),
  createShareLink: bodies(`/v1/esims/${sharedEsimId}/share-links`, { language: 'de' }, { language: 'fr' }),
  rotateWebhookEndpointSecret: bodies(endpoint('rotate-secret'), { overlap_seconds: 60 }, { overlap_seconds: 0 }),
  testWebhookEndpoint: [{ path: endpoint('test') }, { path: endpoint('test', otherEndpoint.textAt('id')) }],
  replayWebhooks: bodies(endpoint('replay'), { since }, { since, which: 'failed' }),
  createPricingRule: bodies('/v1/pricing/rules', rule('DE'), rule('FR')),
  pauseBuying: bodies('/v1/purchase-gate/pauses', { reason: 'Stock-taking.' }, { reason: 'Another reason.' }),
  startAfterDrift: [afterDrift('order'), afterDrift('topup')],
  createServiceWebhookSecret: [{ path: SECRET }, { path: `${SECRET}/rotate` }],
  rotateServiceWebhookSecret: bodies(`${SECRET}/rotate`, { overlap_seconds: 60 }, { overlap_seconds: 0 }),
};

const WORK = ['Order', 'Topup', 'VpnSubscription', 'Cancellation'];
/**
 * Each POST and DELETE without a required Idempotency-Key, with the reason why a repetition is harmless. A new one must
 * be listed here, or be `idempotent`.
 */
const WITHOUT_KEY: Readonly<Record<string, readonly string[]>> = {
  'an action decided by the present state: a repetition is refused or changes nothing': [
    ...WORK.flatMap((name) => [`retry${name}`, `abandon${name}`, `resolve${name}Case`]),
    ...WORK.slice(0, 3).map((name) => `release${name}`),
    'cancelVpnSubscription',
    'simulateEsim',
    'cancelOrderBatch',
    'dismissCase',
    'dismissDeadLetter',
    'requeueDeadLetter',
    'explainWalletTransaction',
    'disableWebhookEndpoint',
    'enableWebhookEndpoint',
    'deleteWebhookEndpoint',
    'revokeShareLink',
    'endPricingRule',
    'endPause',
  ],
  'needs a key unless `dry_run`, and stores the selected items with it, not the answer': WORK.map(
    (name) => `actOnMany${name}s`,
  ),
  'calculates, and stores nothing': ['tryPricing', 'createQuote'],
  'from the service, identified by the delivery id and the signed content': ['receiveServiceWebhook'],
};

const send = ({ method = 'POST', path, body }: Request, key?: string): Promise<HttpAnswer> =>
  caller.call(method, path, { body, ...(key !== undefined && { headers: { 'Idempotency-Key': key } }) });

/** Row counts of all tables, to detect any change. */
async function rows(): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const [name, table] of Object.entries<unknown>({ ...schema }))
    if (is(table, PgTable)) counted[name] = await api.database.run((db) => db.$count(table));
  return counted;
}

describe('every POST and DELETE', () => {
  it('takes an Idempotency-Key, or is listed here with the reason why it needs none', () => {
    const named = Object.values(WITHOUT_KEY).flat();
    const others = api.operations.filter(({ method, idempotent }) => /post|delete/.test(method) && !idempotent);
    expect(others.map(({ id }) => id).toSorted()).toEqual(named.toSorted());
  });

  it('with a key has a request in the table of this test', () => {
    const idempotent = api.operations.filter((operation) => operation.idempotent).map(({ id }) => id);
    expect(Object.keys(PAIRS).toSorted()).toEqual(idempotent.toSorted());
  });
});

describe('a call with an Idempotency-Key', () => {
  it.each(Object.entries(PAIRS))(
    'of %s runs once, repeats its answer, and needs a key unused by other requests',
    async (id, [request, another]) => {
      const untouched = await rows();
      const keyless = await send(request);
      expect([keyless.status, keyless.at('code')]).toEqual([400, 'idempotency_key_missing']);
      expect(await rows()).toEqual(untouched);

      const key = randomUUID();
      const first = await send(request, key);
      expect([id, first.status >= 200 && first.status < 300], first.text).toEqual([id, true]);
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      const carriedOut = await rows();
      expect(carriedOut).not.toEqual(untouched);

      const again = await send(request, key);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([first.status, 'true']);
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expect(again.bytes.equals(first.bytes)).toBe(true);
      expect((await send(request, `"${key}"`)).bytes.equals(first.bytes)).toBe(true);

      const refused = await send(another, key);
      expect([refused.status, refused.at('code')]).toEqual([422, 'idempotency_key_reused']);
      expect(await rows()).toEqual(carriedOut);
    },
  );
});

const held = { status: 'held', failureClass: 'price_above_limit' } as const;

describe('a bulk action', () => {
  const act = { action: 'retry', filter: { failure_class: 'price_above_limit' }, reason: 'Test.' };

  it.each([
    ['orders', schema.orders, 'order'],
    ['topups', schema.topups, 'topup'],
    ['vpn/subscriptions', schema.vpnSubscriptions, 'vpn_subscription'],
    ['cancellations', schema.cancellations, 'cancellation'],
  ] as const)('of %s has the same items on repetition, and changes nothing more', async (name, table, kind) => {
    const path = `/v1/${name}/bulk-actions`;
    const id = (await makeOwnWork(api, caller)).ids[kind];
    await api.database.run((db) => db.update(table).set(held).where(eq(table.id, id)));
    expect((await send({ path, body: act })).at('code')).toBe('idempotency_key_missing');

    const key = randomUUID();
    const first = await send({ path, body: act }, key);
    expect([first.status, first.at('data')]).toEqual([200, [expect.objectContaining({ id, result: 'applied' })]]);
    const carriedOut = await rows();
    // The filter would now select other items. A repetition does not evaluate it.
    await api.database.run((db) => db.update(table).set({ failureClass: 'timeout' }).where(eq(table.id, id)));
    const again = await send({ path, body: act }, key);
    const unchanged: unknown = expect.objectContaining({ id, result: 'unchanged' });
    expect([again.status, again.at('matched'), again.at('data')]).toEqual([200, 1, [unchanged]]);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    expect((await send({ path, body: { ...act, action: 'abandon' } }, key)).at('code')).toBe('idempotency_key_reused');
    expect(await rows()).toEqual(carriedOut);
  });
});

describe('a key used again after the deletion of its answer', () => {
  const forget = () =>
    api.database.run((db) => forgetAnswers(db, { before: new Date(TEST_NOW + 1_000), batch: 10_000 }));

  it('still identifies a top-up without a reference, which is created once', async () => {
    const key = randomUUID();
    const request = { path: '/v1/topups', body: { esim_id: work.ids.esim, package_id: 102 } };
    const first = await send(request, key);
    expect(await forget()).toBeGreaterThan(0);
    const again = await send(request, key);
    expect([again.textAt('id'), again.headers.get('idempotent-replayed')]).toEqual([first.textAt('id'), 'true']);
    // A top-up with a reference is refused because of the reference.
    const named = { path: '/v1/topups', body: { ...request.body, external_topup_id: 'named-once' } };
    const named1 = await send(named, randomUUID());
    await forget();
    expect((await send(named, randomUUID())).at('existing', 'id')).toBe(named1.textAt('id'));
  });

  it('starts a new bulk action', async () => {
    const id = (await makeOwnWork(api, caller)).ids.order;
    const hold = () => changeOrder(api, id, held);
    const key = randomUUID();
    const body = { action: 'release', filter: { ids: [id] }, reason: 'Every night.' };
    const request = { path: '/v1/orders/bulk-actions', body };
    await hold();
    expect((await send(request, key)).at('data')).toEqual([expect.objectContaining({ id, result: 'applied' })]);
    await forget();
    await hold();
    await api.database.run((db) => db.delete(schema.gateOverrides));
    expect((await send(request, key)).at('data')).toEqual([expect.objectContaining({ id, result: 'applied' })]);
  });
});

describe('stored answers', () => {
  it('are deleted by age and in batches, and a later request still creates no second order', async () => {
    await using own = await startTestApi();
    const by = await own.caller();
    const [body, key] = [orderInput(), randomUUID()];
    await postOnce(by, '/v1/orders', body, key);
    own.clock.now += 1;
    for (let n = 0; n < 2; n += 1) await postOnce(by, '/v1/orders', orderInput());
    const forget = (ms: number, batch: number) =>
      own.database.run((db) => forgetAnswers(db, { before: new Date(TEST_NOW + ms), batch }));
    expect([await forget(1, 10), await forget(2, 1)]).toEqual([1, 1]);
    expect(await own.database.run((db) => db.$count(schema.idempotencyKeys))).toBe(1);
    expect((await postOnce(by, '/v1/orders', body, key)).at('code')).toBe('external_order_id_taken');
  });
});
