/** OWASP API1:2023 (broken object level authorization): an own-work key with the ids of another key. */
import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { parseApiKey } from '#crypto/api-key.ts';
import { newId } from '#db/connection/ids.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { apiKeys, auditLog, outbox, timeline } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import { readStream, type StreamReader } from '#test/support/network/event-stream.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { makeOwnWork, type OwnWork } from '#test/support/work/own-work.ts';

let api: TestApi;
/** Both are own-work keys with every scope. The second has created all kinds of resources. */
let limited: HttpClient;
let other: HttpClient;
let others: OwnWork;
beforeAll(async () => {
  // The first heartbeat of a stream shows that it has caught up.
  api = await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 100 } });
  limited = await api.caller(undefined, { ownWorkOnly: true });
  other = await api.caller(undefined, { ownWorkOnly: true });
  others = await makeOwnWork(api, other);
});
afterAll(() => api[Symbol.asyncDispose]());

/**
 * Results of an own-work key for calls without an id. A new call must be listed here, be `accountWide`, or have the
 * kind of its id in its path (`idInPath`).
 */
const WITHOUT_ID: Readonly<
  Record<string, 'own list' | 'own events' | 'creates' | 'changes own' | 'own key' | 'same for all keys'>
> = {
  listOrders: 'own list',
  listTopups: 'own list',
  listVpnSubscriptions: 'own list',
  listCancellations: 'own list',
  listRefunds: 'own list',
  listEsims: 'own list',
  listCases: 'own list',
  listWebhookEndpoints: 'own list',
  listEvents: 'own events',
  streamEvents: 'own events',
  createOrder: 'creates',
  createTopup: 'creates',
  createVpnSubscription: 'creates',
  createCancellation: 'creates',
  createWebhookEndpoint: 'creates',
  actOnManyOrders: 'changes own',
  actOnManyTopups: 'changes own',
  actOnManyVpnSubscriptions: 'changes own',
  actOnManyCancellations: 'changes own',
  getOwnKey: 'own key',
  listVpnPlans: 'same for all keys',
  listPackages: 'same for all keys',
  getPackage: 'same for all keys',
  getLatestUpdate: 'same for all keys',
};

const guarded = () => api.operations.filter(({ scope }) => scope !== undefined);
const idKind = ({ params }: Operation): unknown =>
  z.instanceof(z.ZodType).safeParse(params?.shape['id']).data?.meta()?.['x-kind'];
const withId = () => guarded().filter((operation) => operation.accountWide !== true && idKind(operation) !== undefined);
const named = (kind: 'own list' | 'own events' | 'changes own' | 'own key') =>
  guarded().filter(({ id }) => WITHOUT_ID[id] === kind);

async function call(client: HttpClient, operation: Operation, id: string): Promise<HttpAnswer> {
  const path = operation.path.replaceAll(/\{\w+\}/g, id);
  const headers = { 'Idempotency-Key': randomUUID() };
  return client.call(operation.method.toUpperCase(), path, {
    headers,
    ...(operation.bodyExample !== undefined && { body: operation.bodyExample }),
  });
}

/** Without the parts that differ between requests. */
const comparable = ({ status, body }: HttpAnswer) => ({ status, body: { ...(body as object), request_id: '' } });

async function idOfKey(client: HttpClient): Promise<string | undefined> {
  const prefix = parseApiKey(client.headers['authorization']?.replace('Bearer ', '') ?? '')?.prefix ?? '';
  return (
    await api.database.run((db) => db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.prefix, prefix)))
  )[0]?.id;
}

const counts = async () =>
  api.database.run(async (db) =>
    Promise.all(
      [timeline, auditLog, outbox].map(
        async (table) => (await db.select({ rows: sql<number>`count(*)::int` }).from(table))[0]?.rows,
      ),
    ),
  );

describe('every call of the API', () => {
  it('is account-wide, has an id of a known kind, or has a row in the table of this test', () => {
    const homeless = guarded().filter(
      (operation) =>
        operation.accountWide !== true && idKind(operation) === undefined && WITHOUT_ID[operation.id] === undefined,
    );
    expect(homeless.map(({ id }) => id)).toEqual([]);
    expect(withId().length).toBeGreaterThan(25);
  });

  it('treats the id of another key like a missing one, without a trace, and serves its own key', async () => {
    const before = await counts();
    for (const operation of withId()) {
      const kind = idKind(operation) as keyof OwnWork['ids'];
      expect(others.ids, operation.id).toHaveProperty(kind);
      const missing = comparable(await call(limited, operation, newId(kind)));
      expect([operation.id, missing.status]).toEqual([operation.id, 404]);
      expect([operation.id, comparable(await call(limited, operation, others.ids[kind]))]).toEqual([
        operation.id,
        missing,
      ]);
    }
    expect(await counts()).toEqual(before);
    // A deletion would remove the rows of the other key.
    for (const operation of withId().filter(({ method }) => method !== 'delete')) {
      const kind = idKind(operation) as keyof OwnWork['ids'];
      expect([operation.id, (await call(other, operation, others.ids[kind])).status]).not.toEqual([operation.id, 404]);
    }
  });

  it('that is account-wide is refused to an own-work key before any read, and allowed to others', async () => {
    const everything = await api.caller();
    const wide = guarded().filter(({ accountWide }) => accountWide === true);
    expect(wide.length).toBeGreaterThan(9);
    for (const operation of wide) {
      const answer = await call(limited, operation, newId('case'));
      expect([operation.id, answer.status, answer.at('code')]).toEqual([operation.id, 403, 'account_wide_only']);
      expect([operation.id, (await call(everything, operation, newId('case'))).at('code')]).not.toEqual([
        operation.id,
        'account_wide_only',
      ]);
    }
  });

  it("that lists returns only the key's own work, also with a reference filter", async () => {
    // Earlier calls with the other key may have closed the existing case.
    const topup = { kind: 'topup', id: others.ids.topup } as const;
    await api.database.transaction((tx) => openCase(tx, topup, 'outcome_unknown', 'The outcome is unknown.'));
    for (const { id, path } of named('own list')) {
      const seen = await other.get(path);
      expect([id, seen.status, seen.body]).toEqual([id, 200, { data: [expect.anything()], next_cursor: null }]);
      // eSIMs, refunds and cases result from work and have no creator.
      expect([id, seen.at('data', 0, 'created_by')]).toEqual([
        id,
        /list(Esims|Refunds|Cases)/.test(id) ? undefined : await idOfKey(other),
      ]);
      expect([id, (await limited.get(path)).body]).toEqual([id, { data: [], next_cursor: null }]);
    }
    const othersKey = await idOfKey(other);
    const { ids, externalOrderId, externalTopupId, externalSubscriptionId, iccid } = others;
    for (const query of [
      `orders?external_order_id=${externalOrderId}`,
      `topups?external_topup_id=${externalTopupId}`,
      `topups?esim_id=${ids.esim}`,
      `vpn/subscriptions?external_subscription_id=${externalSubscriptionId}`,
      `cancellations?esim_id=${ids.esim}`,
      `refunds?esim_id=${ids.esim}`,
      `esims?order_id=${ids.order}`,
      `esims?external_order_id=${externalOrderId}`,
      `esims?iccid=${iccid}`,
      'cases?reason=outcome_unknown',
      ...['orders', 'topups', 'vpn/subscriptions', 'cancellations'].map((list) => `${list}?created_by=${othersKey}`),
    ]) {
      expect([query, (await other.get(`/v1/${query}`)).at('data', 0)]).not.toEqual([query, undefined]);
      expect([query, (await limited.get(`/v1/${query}`)).at('data')]).toEqual([query, []]);
    }
  });

  it('about the own key returns the calling key', async () => {
    for (const { path } of named('own key')) {
      const seen = await Promise.all(
        [limited, other].map(async (client) => [(await client.get(path)).at('id'), await idOfKey(client)]),
      );
      for (const [id, own] of seen) expect(id).toBe(own);
      expect(new Set(seen.flat()).size).toBe(2);
    }
    expect(named('own key')).toHaveLength(1);
  });

  it('that acts on many items does not find those of another key, by filter or by id', async () => {
    for (const { id, path, tag } of named('changes own')) {
      const kind = (
        { orders: 'order', topups: 'topup', subscriptions: 'vpn_subscription', cancellations: 'cancellation' } as const
      )[path.split('/').at(-2) ?? ''];
      if (kind === undefined) throw new Error(`${id} (${tag}) is of an unknown kind`);
      const act = async (client: HttpClient, filter: object, dryRun: boolean) =>
        client.post(
          path,
          { action: 'retry', filter, reason: 'test', dry_run: dryRun },
          { headers: { 'Idempotency-Key': randomUUID() } },
        );
      const own = { ids: [others.ids[kind]] };
      // Its own key finds it, with any possible result of the action.
      expect([id, (await act(other, own, true)).at('data', 0, 'status')]).toEqual([id, expect.any(String)]);
      for (const dryRun of [true, false]) {
        expect([id, (await act(limited, own, dryRun)).at('data')]).toEqual([
          id,
          [expect.objectContaining({ result: 'not_found', status: null })],
        ]);
        for (const filter of [{ created_after: '2020-01-01T00:00:00Z' }, { created_by: await idOfKey(other) }]) {
          expect([id, (await act(limited, filter, dryRun)).body]).toEqual([
            id,
            { dry_run: dryRun, matched: 0, remaining: 0, data: [] },
          ]);
        }
      }
    }
  });
});

describe('a creation', () => {
  const post = (client: HttpClient, path: string, body: object) =>
    client.post(path, body, { headers: { 'Idempotency-Key': randomUUID() } });

  it.each([
    ['/v1/topups', (esim: string) => ({ esim_id: esim, package_id: 101 })],
    ['/v1/cancellations', (esim: string) => ({ esim_id: esim })],
  ])('at %s for the eSIM of another key is refused like one for an unknown eSIM', async (path, body) => {
    const missing = await post(limited, path, body(newId('esim')));
    expect(missing.status).toBe(400);
    expect(comparable(await post(limited, path, body(others.ids.esim)))).toEqual(comparable(missing));
  });

  it('with a reference of another key is refused without details of its work', async () => {
    const vpn = { vpn_plan_id: 7, customer_reference: 'c', customer_price: '5.00' };
    for (const [path, body, id] of [
      ['/v1/orders', { package_id: 101, external_order_id: others.externalOrderId }, others.ids.order],
      [
        '/v1/vpn/subscriptions',
        { ...vpn, external_subscription_id: others.externalSubscriptionId },
        others.ids.vpn_subscription,
      ],
    ] as const) {
      const conflict = await post(limited, path, body);
      expect([conflict.status, conflict.at('existing')]).toEqual([409, undefined]);
      expect(conflict.text).not.toContain(id);
      expect((await post(other, path, body)).at('existing', 'id')).toBe(id);
    }
    const mine = await makeOwnWork(api, limited);
    const topup = await post(limited, '/v1/topups', {
      esim_id: mine.ids.esim,
      package_id: 101,
      external_topup_id: others.externalTopupId,
    });
    expect([topup.status, topup.at('existing')]).toEqual([409, undefined]);
    expect((await limited.get('/v1/orders')).at('data', 0, 'id')).toBe(mine.ids.order);
    expect((await (await api.caller(['orders:read'])).get('/v1/orders')).at('data')).toHaveLength(2);
  });
});

describe('held work', () => {
  it.each(['insufficient_balance', 'purchases_paused', 'spend_limit_reached'] as const)(
    'for %s shows an own-work key the reason without data of the account',
    async (failure) => {
      const particulars = `of the 98.76 USD in the wallet, 54.32 are reserved; SECRET-WHY ${failure}`;
      const reference = randomUUID();
      const body = { package_id: 101, external_order_id: reference };
      const made = await limited.post('/v1/orders', body, { headers: { 'Idempotency-Key': randomUUID() } });
      const id = made.textAt('id');
      const entry = {
        event: 'order.held',
        message: `Held at the purchase gate: ${particulars}`,
        detail: { attempt: 1, failure_class: failure },
      };
      await api.database.transaction((tx) =>
        recordStep(
          tx,
          { kind: 'order', id },
          { status: 'held', entry, failure: { class: failure, detail: particulars } },
          new Date(TEST_NOW),
        ),
      );
      const everything = await api.caller();
      for (const path of [
        `/v1/orders/${id}`,
        `/v1/orders?external_order_id=${reference}`,
        `/v1/orders/${id}/timeline`,
      ]) {
        const shown = await limited.get(path);
        expect(shown.text).toContain(failure);
        expect(shown.text).not.toMatch(/98\.76|54\.32|SECRET-WHY/);
        expect((await everything.get(path)).text).toContain(particulars);
      }
    },
  );
});

describe('the events of two keys', () => {
  const subjectsOf = (found: readonly unknown[]) =>
    z
      .array(z.object({ subject: z.object({ id: z.string() }) }))
      .parse(found)
      .map(({ subject }) => subject.id);
  const streamed = async (reader: StreamReader, count: number) =>
    subjectsOf((await reader.next(count)).map(({ data }) => data));
  const page = async (client: HttpClient, query: string) =>
    subjectsOf(z.array(z.unknown()).parse((await client.get(`/v1/events?limit=100&${query}`)).at('data')));
  const stream = (client: HttpClient, query = '', headers: Record<string, string> = {}) =>
    readStream(client, `/v1/events/stream${query}`, headers);
  /** The end of the feed after all events are published. */
  async function end(): Promise<string> {
    await api.publish();
    return (await limited.get('/v1/events?since=9990-01-01T00:00:00Z')).textAt('next_cursor');
  }
  const order = async (client: HttpClient) =>
    (
      await client.post(
        '/v1/orders',
        { package_id: 101, external_order_id: randomUUID() },
        { headers: { 'Idempotency-Key': randomUUID() } },
      )
    ).textAt('id');

  /**
   * Creates orders of both keys and events of the account in turn, so each wrong event would be among the expected
   * ones.
   */
  async function happen(): Promise<{ mine: string[]; theirs: string[] }> {
    const [mine, theirs]: [string[], string[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      theirs.push(await order(other));
      const accountEvent = {
        type: 'wallet.balance_low',
        subject: { kind: 'wallet', id: 'wallet' },
        apiKeyId: null,
        data: { balance: '98.76' },
      } as const;
      await api.database.transaction((tx) => recordEvent(tx, accountEvent, new Date(TEST_NOW)));
      mine.push(await order(limited));
    }
    theirs.push(await order(other));
    mine.push(await order(limited));
    await api.publish();
    return { mine, theirs };
  }

  it('are returned by two calls, and this test covers both', () => {
    expect(named('own events').map(({ id }) => id)).toEqual(['listEvents', 'streamEvents']);
  });

  it('reach in the stream only their own key, live and after a resumption', async () => {
    const from = await end();
    const live = [await stream(limited), await stream(other)] as const;
    for (const reader of live) await waitFor('it has caught up', () => reader.comments() > 0);
    const { mine, theirs } = await happen();
    const later = [
      await stream(limited, '', { 'Last-Event-ID': from }),
      await stream(other, `?cursor=${from}`),
    ] as const;
    for (const [mineTold, theirsTold] of [live, later]) {
      expect(await streamed(mineTold, mine.length)).toEqual(mine);
      expect(await streamed(theirsTold, theirs.length)).toEqual(theirs);
    }
    for (const reader of [...live, ...later]) reader.close();
  });

  it('of another key do not reach a filtered stream, whose cursor passes them', async () => {
    const from = await end();
    const { theirs } = await happen();
    const last = await end();
    const reader = await stream(limited, `?subject_id=${theirs[0]}`, { 'Last-Event-ID': from });
    await waitFor('it is past them', () => reader.lastEventId() === last);
    expect(reader.received()).toBe(0);
    reader.close();
    const allowed = await stream(other, `?subject_id=${theirs[0]}`, { 'Last-Event-ID': from });
    expect(await streamed(allowed, 1)).toEqual(theirs.slice(0, 1));
    allowed.close();
  });

  it('appear in the feed of their own key only, and no others end its wait', async () => {
    const from = await end();
    const waiting = async () =>
      Number(/^reseller_waiting\{for="answer"\} (\d+)$/m.exec((await limited.get('/metrics')).text)?.[1] ?? 0);
    const answering = page(limited, `wait=30&cursor=${from}`);
    const otherAnswering = page(other, `wait=30&cursor=${from}`);
    await waitFor('both wait', async () => (await waiting()) === 2);
    const first = await order(other);
    await api.publish();
    expect(await otherAnswering).toEqual([first]);
    expect(await waiting()).toBe(1);
    const own = await order(limited);
    await api.publish();
    expect(await answering).toEqual([own]);

    const { mine, theirs } = await happen();
    expect(await page(limited, `cursor=${from}`)).toEqual([own, ...mine]);
    expect(await page(other, `cursor=${from}&wait=1`)).toEqual([first, ...theirs]);
    expect(await page(limited, `cursor=${from}&subject_id=${theirs[0]}`)).toEqual([]);
    expect(await page(limited, `cursor=${from}&type=wallet.*`)).toEqual([]);
    expect(await page(await api.caller(), `cursor=${from}&type=wallet.*`)).toHaveLength(3);
  });
});
