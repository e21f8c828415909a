/**
 * What docs/reference/api.md promises of the Idempotency-Key, by every call that takes one; every other POST is named
 * with what it is.
 */
import { randomUUID } from 'node:crypto';
import { eq, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetAnswers } from '#db/queues/idempotency.ts';
import * as schema from '#db/schema.ts';
import { idleService, startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { makeOwnWork, type OwnWork } from '#test/support/work/own-work.ts';

const service = {
  ...idleService,
  createWebhookSecret: async () => ({ ok: true, status: 201, value: { secret: 'whsec_created' } }) as const,
  rotateWebhookSecret: async () => ({ ok: true, status: 200, value: { secret: 'whsec_rotated' } }) as const,
};

let api: TestApi;
let caller: HttpClient;
let work: OwnWork;
let otherEndpoint: string;
beforeAll(async () => {
  api = await startTestApi({ service });
  caller = await api.caller();
  work = await makeOwnWork(api, caller);
  // One that was given up leaves its eSIM free for another.
  await api.database.run((db) =>
    db
      .update(schema.cancellations)
      .set({ status: 'abandoned' })
      .where(eq(schema.cancellations.id, work.ids.cancellation)),
  );
  otherEndpoint = (
    await post({ path: '/v1/webhook-endpoints', body: { url: 'https://shop.example.com/other' } }, randomUUID())
  ).textAt('id');
});
afterAll(() => api[Symbol.asyncDispose]());

interface Request {
  readonly path: string;
  readonly body?: object;
}

/**
 * A request that is accepted, and another one for which its key must not be used: with another body, or where it has
 * none, at another address.
 */
interface Pair {
  readonly request: Request;
  readonly another: Request;
}

const bodies = (path: string, body: object, other: object): Pair => ({
  request: { path, body },
  another: { path, body: other },
});
const endpoint = (act: string, id = work.ids.webhookEndpoint) => `/v1/webhook-endpoints/${id}/${act}`;
const since = '2030-01-31T00:00:00Z';
const rule = (country: string) => ({
  target: { kind: 'country', country },
  currency: 'EUR',
  terms: { margin: { percent: '20' } },
  reason: 'Test.',
});
const vpn = {
  vpn_plan_id: 7,
  external_subscription_id: 'idempotent-vpn',
  customer_reference: 'C-1',
  customer_price: '5.00',
};

/** One for each call that takes an Idempotency-Key; a new one without a row fails. */
const PAIRS: Readonly<Record<string, () => Pair>> = {
  createOrder: () =>
    bodies(
      '/v1/orders',
      { package_id: 101, external_order_id: 'idempotent' },
      { package_id: 102, external_order_id: 'idempotent' },
    ),
  createTopup: () =>
    bodies('/v1/topups', { esim_id: work.ids.esim, package_id: 101 }, { esim_id: work.ids.esim, package_id: 102 }),
  createVpnSubscription: () => bodies('/v1/vpn/subscriptions', vpn, { ...vpn, customer_price: '6.00' }),
  createCancellation: () =>
    bodies('/v1/cancellations', { esim_id: work.ids.esim }, { esim_id: work.ids.esim, accept_without_refund: true }),
  createWebhookEndpoint: () =>
    bodies('/v1/webhook-endpoints', { url: 'https://shop.example.com/1' }, { url: 'https://shop.example.com/2' }),
  rotateWebhookEndpointSecret: () => bodies(endpoint('rotate-secret'), { overlap_seconds: 60 }, { overlap_seconds: 0 }),
  testWebhookEndpoint: () => ({
    request: { path: endpoint('test') },
    another: { path: endpoint('test', otherEndpoint) },
  }),
  replayWebhooks: () => bodies(endpoint('replay'), { since }, { since, which: 'failed' }),
  createPricingRule: () => bodies('/v1/pricing/rules', rule('DE'), rule('FR')),
  pauseBuying: () => bodies('/v1/purchase-gate/pauses', { reason: 'Stock-taking.' }, { reason: 'Another reason.' }),
  createServiceWebhookSecret: () => ({
    request: { path: '/v1/service/webhook-secret' },
    another: { path: '/v1/service/webhook-secret/rotate' },
  }),
  rotateServiceWebhookSecret: () =>
    bodies('/v1/service/webhook-secret/rotate', { overlap_seconds: 60 }, { overlap_seconds: 0 }),
};

/**
 * POST without an Idempotency-Key that has to come, and why a repetition does no harm. A new one belongs in here, or is
 * `idempotent`.
 */
const WITHOUT_KEY: Readonly<Record<string, readonly string[]>> = {
  'an act that is judged by what is there: what was done before is refused or changes nothing': [
    ...['Order', 'Topup', 'VpnSubscription', 'Cancellation'].flatMap((name) => [
      `retry${name}`,
      `abandon${name}`,
      `resolve${name}Case`,
      `change${name}RetryPolicy`,
    ]),
    ...['Order', 'Topup', 'VpnSubscription'].flatMap((name) => [`release${name}`, `change${name}Limit`]),
    'cancelVpnSubscription',
    'releasePause',
    'dismissCase',
    'dismissDeadLetter',
    'requeueDeadLetter',
    'explainWalletTransaction',
    'disableWebhookEndpoint',
    'enableWebhookEndpoint',
    'endPricingRule',
  ],
  'replaces terms: a repetition makes a version with the same, or is refused where it names the version that it has read':
    ['changePricingRule'],
  'needs a key unless `dry_run`, and keeps under it what it is about, not the answer': [
    'actOnManyOrders',
    'actOnManyTopups',
    'actOnManyVpnSubscriptions',
    'actOnManyCancellations',
  ],
  'calculates, and stores nothing': ['tryPricing'],
  'from the service, known by the id of the delivery and by what was signed': ['receiveServiceWebhook'],
};

const post = async ({ path, body }: Request, key?: string): Promise<HttpAnswer> =>
  caller.post(path, body, key === undefined ? {} : { headers: { 'Idempotency-Key': key } });

/** Rows of every table: what leaves no trace changes none of these. */
async function rows(): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const [name, table] of Object.entries<unknown>({ ...schema })) {
    if (is(table, PgTable)) counted[name] = await api.database.run((db) => db.$count(table));
  }
  return counted;
}

describe('every POST', () => {
  it('takes an Idempotency-Key, or is named here with why it needs none', () => {
    const named = Object.values(WITHOUT_KEY).flat();
    const others = api.operations
      .filter(({ method, idempotent }) => method === 'post' && !idempotent)
      .map(({ id }) => id);
    expect(others.toSorted()).toEqual(named.toSorted());
  });

  it('that takes one has a request in the table of this test', () => {
    const idempotent = api.operations.filter((operation) => operation.idempotent).map(({ id }) => id);
    expect(Object.keys(PAIRS).toSorted()).toEqual(idempotent.toSorted());
  });
});

describe('with an Idempotency-Key', () => {
  it.each(Object.entries(PAIRS))(
    '%s is carried out once, answered twice with the same bytes, and refused without the key or with another request',
    async (id, pairOf) => {
      const { request, another } = pairOf();
      const untouched = await rows();
      const keyless = await post(request);
      expect([keyless.status, keyless.at('code')]).toEqual([400, 'idempotency_key_missing']);
      expect(await rows()).toEqual(untouched);

      const key = randomUUID();
      const first = await post(request, key);
      expect([id, first.status >= 200 && first.status < 300], first.text).toEqual([id, true]);
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      const carriedOut = await rows();
      expect(carriedOut).not.toEqual(untouched);

      const again = await post(request, key);
      expect([again.status, again.headers.get('idempotent-replayed'), again.headers.get('location')]).toEqual([
        first.status,
        'true',
        first.headers.get('location'),
      ]);
      expect(again.bytes.equals(first.bytes)).toBe(true);
      expect((await post(request, `"${key}"`)).bytes.equals(first.bytes)).toBe(true);

      const refused = await post(another, key);
      expect([refused.status, refused.at('code')]).toEqual([422, 'idempotency_key_reused']);
      expect(await rows()).toEqual(carriedOut);
    },
  );
});

describe('acting on many', () => {
  const act = { action: 'retry', filter: { failure_class: 'price_above_limit' }, reason: 'Test.' };

  it.each([
    ['orders', schema.orders, 'order'],
    ['topups', schema.topups, 'topup'],
    ['vpn/subscriptions', schema.vpnSubscriptions, 'vpn_subscription'],
    ['cancellations', schema.cancellations, 'cancellation'],
  ] as const)(
    'of %s is about the same ones when it comes again, and changes nothing more',
    async (name, table, kind) => {
      const path = `/v1/${name}/bulk-actions`;
      const id = (await makeOwnWork(api, caller)).ids[kind];
      await api.database.run((db) =>
        db.update(table).set({ status: 'held', failureClass: 'price_above_limit' }).where(eq(table.id, id)),
      );
      expect((await post({ path, body: act })).at('code')).toBe('idempotency_key_missing');

      const key = randomUUID();
      const first = await post({ path, body: act }, key);
      expect([first.status, first.at('data')]).toEqual([200, [expect.objectContaining({ id, result: 'applied' })]]);
      const carriedOut = await rows();
      // By now the filter finds something else: a repetition does not look.
      await api.database.run((db) => db.update(table).set({ failureClass: 'timeout' }).where(eq(table.id, id)));
      const again = await post({ path, body: act }, key);
      expect([again.status, again.at('matched'), again.at('data')]).toEqual([
        200,
        1,
        [expect.objectContaining({ id, result: 'unchanged' })],
      ]);
      expect(again.headers.get('idempotent-replayed')).toBeNull();
      expect((await post({ path, body: { ...act, action: 'abandon' } }, key)).at('code')).toBe(
        'idempotency_key_reused',
      );
      expect(await rows()).toEqual(carriedOut);
    },
  );
});

describe('a key that comes again after its answers are forgotten', () => {
  const forget = () =>
    api.database.run((db) => forgetAnswers(db, { before: new Date(TEST_NOW + 1_000), batch: 10_000 }));

  it('still stands for a top-up that has no reference of the caller: it is made once', async () => {
    const key = randomUUID();
    const request = { path: '/v1/topups', body: { esim_id: work.ids.esim, package_id: 103 } };
    const first = await post(request, key);
    expect(await forget()).toBeGreaterThan(0);
    const again = await post(request, key);
    expect([again.textAt('id'), again.headers.get('idempotent-replayed')]).toEqual([first.textAt('id'), 'true']);
    // One with a reference is refused by that.
    const named = { path: '/v1/topups', body: { ...request.body, external_topup_id: 'named-once' } };
    const named1 = await post(named, randomUUID());
    await forget();
    expect((await post(named, randomUUID())).at('existing', 'id')).toBe(named1.textAt('id'));
  });

  it('is an act of its own for many: it does not count as done', async () => {
    const id = (await makeOwnWork(api, caller)).ids.order;
    const hold = () =>
      api.database.run((db) =>
        db
          .update(schema.orders)
          .set({ status: 'held', failureClass: 'price_above_limit' })
          .where(eq(schema.orders.id, id)),
      );
    const key = randomUUID();
    const request = {
      path: '/v1/orders/bulk-actions',
      body: { action: 'release', filter: { ids: [id] }, reason: 'Every night.' },
    };
    await hold();
    expect((await post(request, key)).at('data')).toEqual([expect.objectContaining({ id, result: 'applied' })]);
    await forget();
    await hold();
    await api.database.run((db) => db.delete(schema.gateOverrides));
    expect((await post(request, key)).at('data')).toEqual([expect.objectContaining({ id, result: 'applied' })]);
  });
});
