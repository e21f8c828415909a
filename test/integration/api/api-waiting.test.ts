import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderOutput } from '#api/orders/order-schemas.ts';
import { Waits } from '#api/waits/waits.ts';
import { newId } from '#db/connection/ids.ts';
import { orders, vpnSubscriptions } from '#db/schema.ts';
import { MAX_WAIT_MS } from '#domain/policy/api-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

let api: TestApi;
let caller: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  caller = await api.caller();
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

const wait = (seconds: number) => ({ Prefer: `wait=${seconds}` });
const input = (more: Record<string, unknown> = {}) => ({
  package_id: 101,
  external_order_id: `wait-${randomUUID()}`,
  ...more,
});
const create = (
  body: unknown,
  headers: Record<string, string> = {},
  key: string = randomUUID(),
  by = caller,
): Promise<HttpAnswer> => by.post('/v1/orders', body, { headers: { 'Idempotency-Key': key, ...headers } });
async function waiting(by = caller): Promise<number> {
  const { text } = await by.get('/metrics');
  return Number(/^reseller_waiting\{for="answer"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
const untilWaiting = (count: number) =>
  waitFor(`${count} wait`, async () => (await waiting()) === count, { everyMs: 10 });

/** Records a step as the workflow does, and publishes its event as the relay does. */
async function move(kind: WorkKind, id: string, status: WorkStatus, on: TestApi = api): Promise<void> {
  await on.database.transaction((tx) =>
    recordStep(
      tx,
      { kind, id },
      { status, entry: { event: `${kind}.${status}`, message: 'Test.' } },
      new Date(TEST_NOW),
    ),
  );
  await on.publish();
}
async function idOf(externalOrderId: string, on: TestApi = api): Promise<string> {
  return waitFor('the order is stored', async () => {
    const [row] = await on.database.run((db) =>
      db.select({ id: orders.id }).from(orders).where(eq(orders.externalOrderId, externalOrderId)),
    );
    return row?.id;
  });
}

describe('a creation with Prefer: wait', () => {
  it('returns 201 with the finished order as soon as it is finished', async () => {
    const body = input();
    const answering = create(body, wait(40));
    const id = await idOf(body.external_order_id);
    await untilWaiting(1);
    await api.publish();
    await move('order', id, 'processing');
    expect(await waiting()).toBe(1);
    await api.database.run((db) =>
      db
        .update(orders)
        .set({ esimId: newId('esim') })
        .where(eq(orders.id, id)),
    );
    await move('order', id, 'completed');
    const answer = await answering;
    expect([answer.status, answer.read(orderOutput).status]).toEqual([201, 'completed']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${id}`);
    expect(answer.headers.get('preference-applied')).toBe('wait=40');
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(await waiting()).toBe(0);
  });

  it('returns 202 with address and Retry-After at the end of its wait', async () => {
    const answer = await create(input(), wait(1));
    expect([answer.status, answer.at('status')]).toEqual([202, 'accepted']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${answer.textAt('id')}`);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
  });

  it('returns at once without the preference, with Retry-After', async () => {
    const answer = await create(input());
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('preference-applied')]).toEqual([
      202,
      '2',
      null,
    ]);
  });

  it('waits during a hold, and returns when an operator must decide', async () => {
    const body = input();
    const answering = create(body, wait(40));
    const id = await idOf(body.external_order_id);
    await untilWaiting(1);
    await move('order', id, 'held');
    await move('order', id, 'needs_attention');
    const answer = await answering;
    expect([answer.status, answer.at('status'), answer.headers.get('retry-after')]).toEqual([
      202,
      'needs_attention',
      '60',
    ]);
  });

  it('waits no longer than the policy allows', async () => {
    const body = input();
    const answering = create(body, wait(100_000));
    const id = await idOf(body.external_order_id);
    await untilWaiting(1);
    await move('order', id, 'failed');
    const answer = await answering;
    expect([answer.status, answer.at('status'), answer.headers.get('preference-applied')]).toEqual([
      201,
      'failed',
      'wait=50',
    ]);
  });

  it('returns an earlier final state, so nothing is lost between storing and listening', async () => {
    const body = input();
    const key = randomUUID();
    const first = await create(body, {}, key);
    await move('order', first.textAt('id'), 'failed');
    const answer = await create(body, wait(40), key);
    expect([answer.status, answer.at('status')]).toEqual([201, 'failed']);
  });

  it('is refused without waiting for a wrong body, a missing key or a used reference', async () => {
    const taken = input();
    await create(taken);
    const answers = await Promise.all([
      create({ package_id: 0 }, wait(40)),
      caller.post('/v1/orders', input(), { headers: wait(40) }),
      create(taken, wait(40)),
    ]);
    expect(answers.map((answer) => answer.at('code'))).toEqual([
      'validation_failed',
      'idempotency_key_missing',
      'external_order_id_taken',
    ]);
  });
});

describe('a repeated creation', () => {
  it('gets the stored acceptance, also when the first answer had the finished order', async () => {
    const body = input();
    const key = randomUUID();
    const answering = create(body, wait(40), key);
    const id = await idOf(body.external_order_id);
    await untilWaiting(1);
    await move('order', id, 'failed');
    expect((await answering).status).toBe(201);
    const [one, two] = [await create(body, {}, key), await create(body, {}, key)];
    expect([one?.status, one?.at('status'), one?.headers.get('idempotent-replayed')]).toEqual([
      202,
      'accepted',
      'true',
    ]);
    expect(two?.text).toBe(one?.text);
  });

  it('with a wait gets the present order, and creates no second one', async () => {
    const body = input();
    const key = randomUUID();
    const first = create(body, wait(40), key);
    const id = await idOf(body.external_order_id);
    await untilWaiting(1);
    // The first request still waits. It is committed, so its key is no longer in progress.
    const second = create(body, wait(40), key);
    await untilWaiting(2);
    await move('order', id, 'failed');
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });
});

describe('a read with ?wait', () => {
  const accepted = async () => (await create(input())).textAt('id');
  const waitHeaders = ({ headers }: HttpAnswer) => [headers.get('preference-applied'), headers.get('retry-after')];

  it('returns at once for a finished order, and for an unknown one', async () => {
    const id = await accepted();
    await move('order', id, 'failed');
    expect((await caller.get(`/v1/orders/${id}?wait=40`)).at('status')).toBe('failed');
    expect((await caller.get(`/v1/orders/${newId('order')}?wait=40`)).status).toBe(404);
  });

  it('returns the current state at the end of the wait, with Preference-Applied and Retry-After', async () => {
    const id = await accepted();
    const answer = await caller.get(`/v1/orders/${id}?wait=1`);
    expect([answer.status, answer.at('status'), ...waitHeaders(answer)]).toEqual([200, 'accepted', 'wait=1', '2']);
    expect(waitHeaders(await caller.get(`/v1/orders/${id}`))).toEqual([null, null]);
  });

  it('returns only Retry-After when it did not wait', async () => {
    const stopped = await startTestApi();
    const by = await stopped.caller();
    const id = (await create(input(), {}, randomUUID(), by)).textAt('id');
    const answering = by.get(`/v1/orders/${id}?wait=50`);
    await waitFor('it waits', async () => (await waiting(by)) === 1);
    await stopped.tail.stop();
    expect(waitHeaders(await answering)).toEqual([null, '2']);
    expect(waitHeaders(await by.get(`/v1/orders/${id}?wait=50`))).toEqual([null, '2']);
    await stopped[Symbol.asyncDispose]();
  });

  it('returns Retry-After until the awaited status, with a longer time when an operator must decide', async () => {
    const id = await accepted();
    await move('order', id, 'needs_attention');
    expect(waitHeaders(await caller.get(`/v1/orders/${id}?wait=40`))).toEqual(['wait=40', '60']);
    expect(waitHeaders(await caller.get(`/v1/orders/${id}?wait=40&until=needs_attention`))).toEqual(['wait=40', null]);
    await move('order', id, 'failed');
    expect(waitHeaders(await caller.get(`/v1/orders/${id}?wait=40&until=completed`))).toEqual(['wait=40', null]);
    expect(waitHeaders(await caller.get(`/v1/orders/${id}?wait=1000`))).toEqual(['wait=50', null]);
  });

  it('waits for the requested statuses, and not for impossible ones', async () => {
    const id = await accepted();
    const held = caller.get(`/v1/orders/${id}?wait=40&until=held,completed`);
    const completed = caller.get(`/v1/orders/${id}?wait=40&until=completed`);
    await untilWaiting(2);
    await move('order', id, 'held');
    expect((await held).at('status')).toBe('held');
    await untilWaiting(1);
    await move('order', id, 'failed');
    expect((await completed).at('status')).toBe('failed');
  });

  it.each(['wait=soon', 'wait=40&until=bought', 'wait=40&until=held,'])('refuses ?%s', async (query) => {
    expect((await caller.get(`/v1/orders/${newId('order')}?${query}`)).at('code')).toBe('validation_failed');
  });
});

describe('the cancellation of a VPN subscription', () => {
  /** An active one, as its workflow leaves it. @returns its address. */
  async function active(): Promise<{ id: string; path: string }> {
    const body = {
      vpn_plan_id: 7,
      external_subscription_id: `vpn-${randomUUID()}`,
      customer_reference: 'C-1',
      customer_price: '5.99',
    };
    const created = await caller.post('/v1/vpn/subscriptions', body, { headers: { 'Idempotency-Key': randomUUID() } });
    const id = created.textAt('id');
    await move('vpn_subscription', id, 'active');
    await api.database.run((db) =>
      db
        .update(vpnSubscriptions)
        .set({ completedAt: new Date(TEST_NOW) })
        .where(eq(vpnSubscriptions.id, id)),
    );
    return { id, path: `/v1/vpn/subscriptions/${id}` };
  }

  it('with Prefer: wait returns 200 when the subscription has ended', async () => {
    const { id, path } = await active();
    const ending = caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(40) });
    await untilWaiting(1);
    await move('vpn_subscription', id, 'cancelling');
    await move('vpn_subscription', id, 'cancelled');
    const answer = await ending;
    expect([answer.status, answer.at('status'), answer.headers.get('preference-applied')]).toEqual([
      200,
      'cancelled',
      'wait=40',
    ]);
    expect([answer.headers.get('location'), answer.headers.get('retry-after')]).toEqual([path, null]);
  });

  it('returns 202 with address and Retry-After, at once or at the end of its wait', async () => {
    const { path } = await active();
    const seen = ({ status, headers }: HttpAnswer) => [
      status,
      ...['location', 'retry-after', 'preference-applied'].map((name) => headers.get(name)),
    ];
    expect(seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }))).toEqual([202, path, '2', null]);
    // Already requested, with the same answer.
    expect(seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }))).toEqual([202, path, '2', null]);
    expect(seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(1) }))).toEqual([
      202,
      path,
      '2',
      'wait=1',
    ]);
  });

  it('needs no reason, and a missing one appears in neither timeline nor audit log', async () => {
    const ended = async (body?: object) => {
      const { id, path } = await active();
      expect((await caller.post(`${path}/cancel`, body)).status).toBe(202);
      const timeline = await caller.get(`${path}/timeline`);
      const audited = await caller.get(`/v1/audit-log?action=vpn_subscription.cancel&subject_id=${id}`);
      expect(audited.at('data', 1)).toBeUndefined();
      return [/The customer ends the subscription[^"]*/.exec(timeline.text)?.[0], audited.at('data', 0, 'reason')];
    };
    expect(await ended()).toEqual(['The customer ends the subscription.', null]);
    expect(await ended({})).toEqual(['The customer ends the subscription.', null]);
    expect(await ended({ reason: 'Moved.' })).toEqual(['The customer ends the subscription: Moved.', 'Moved.']);
  });

  it('is refused after another end, and repeats its answer after a cancellation', async () => {
    const { id, path } = await active();
    await move('vpn_subscription', id, 'expired');
    const refused = await caller.post(`${path}/cancel`, {});
    expect([refused.status, refused.at('code'), refused.at('refusal')]).toEqual([
      409,
      'action_not_possible',
      'already_ended',
    ]);
    const other = await active();
    await move('vpn_subscription', other.id, 'cancelled');
    const again = await caller.post(`${other.path}/cancel`, {});
    expect([again.status, again.at('status')]).toEqual([200, 'cancelled']);
  });

  it('returns 202 with a longer Retry-After when an operator must decide', async () => {
    const { id, path } = await active();
    const ending = caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(40) });
    await untilWaiting(1);
    await move('vpn_subscription', id, 'needs_attention');
    const { status, headers } = await ending;
    expect([status, headers.get('location'), headers.get('retry-after')]).toEqual([202, path, '60']);
  });
});

describe('every call with a wait', () => {
  it('describes its address, Retry-After and Preference-Applied headers', () => {
    const waitingCalls = api.operations.filter(({ prefersWait }) => prefersWait);
    expect(waitingCalls.length).toBeGreaterThan(4);
    for (const { id, answers } of waitingCalls) {
      const described = Object.entries(answers).map(([status, { headers = {} }]) =>
        [status, headers['Location'], headers['Retry-After'], headers['Preference-Applied']].map(
          (text) => text !== undefined,
        ),
      );
      expect([id, ...described]).toEqual([id, [true, true, false, true], [true, true, true, true]]);
    }
  });

  it('describes Retry-After and Preference-Applied also for GET', () => {
    const reads = api.operations.filter(({ query }) => query?.shape['wait'] !== undefined);
    expect(reads.map(({ id }) => id).toSorted()).toEqual([
      'getCancellation',
      'getOrder',
      'getTopup',
      'getVpnSubscription',
      'listEvents',
    ]);
    for (const { id, answers } of reads) {
      expect([id, Object.keys(answers[200]?.headers ?? {})]).toEqual([id, ['Preference-Applied', 'Retry-After']]);
    }
  });
});

describe('waiting callers', () => {
  it('hold no database connection, and a thousand of them are answered by one change each', async () => {
    // Their wait is longer than the time until all of them wait, also on a busy machine.
    const metrics = createMetrics({ processMetrics: false });
    const tail = {
      listen: (listener: Parameters<TestApi['tail']['listen']>[0]) => crowded.tail.listen(listener),
      get stopped() {
        return crowded.tail.stopped;
      },
    };
    const waits = new Waits({ tail, policy: { ...DEFAULT_POLICY.waiting, maxMs: MAX_WAIT_MS }, metrics });
    await using crowded: TestApi = await startTestApi({ metrics, waits });
    const by = await crowded.caller();
    const ids: string[] = [];
    const answering: Promise<HttpAnswer>[] = [];
    // A hundred at a time, because each reads before its wait, and more would queue too long for the five connections.
    for (let n = 1; n <= 10; n += 1) {
      const id = (await create(input(), {}, randomUUID(), by)).textAt('id');
      ids.push(id);
      answering.push(...Array.from({ length: 100 }, () => by.get(`/v1/orders/${id}?wait=${MAX_WAIT_MS / 1_000}`)));
      await waitFor(`${n} hundred wait`, async () => (await waiting(by)) === 100 * n);
    }
    // The pool has five connections. If the callers held them, this would not be answered.
    expect(
      (await Promise.all(Array.from({ length: 20 }, () => by.get('/v1/orders?limit=1')))).every(
        ({ status }) => status === 200,
      ),
    ).toBe(true);
    for (const [n, id] of ids.entries()) {
      await move('order', id, 'failed', crowded);
      await waitFor(
        'its own waiting callers are answered, and no others',
        async () => (await waiting(by)) === 900 - 100 * n,
      );
    }
    const answers = await Promise.all(answering);
    expect(
      answers
        .filter((answer) => answer.status !== 200 || answer.at('status') !== 'failed')
        .map(({ status, text }) => [status, text]),
    ).toEqual([]);
  });

  it('are removed when they disconnect', async () => {
    const id = (await create(input())).textAt('id');
    const leaving = new AbortController();
    const gone = fetch(`${api.baseUrl}/v1/orders/${id}?wait=50`, { headers: caller.headers, signal: leaving.signal });
    await untilWaiting(1);
    leaving.abort();
    await expect(gone).rejects.toThrow('aborted');
    await untilWaiting(0);
  });

  it('get 202 at once when the API stops', async () => {
    const stopped = await startTestApi();
    const by = await stopped.caller();
    const answering = create(input(), wait(50), randomUUID(), by);
    await waitFor('it waits', async () => (await waiting(by)) === 1);
    await stopped.tail.stop();
    const answer = await answering;
    expect([answer.status, answer.at('status')]).toEqual([202, 'accepted']);
    // No new caller waits.
    const next = await create(input(), wait(50), randomUUID(), by);
    expect(next.status).toBe(202);
    // Neither wait was granted, so neither answer has Preference-Applied.
    for (const { headers } of [answer, next])
      expect([headers.get('retry-after'), headers.get('preference-applied')]).toEqual(['2', null]);
    await stopped[Symbol.asyncDispose]();
  });

  it.each([
    { limit: 'all keys', policy: { maxWaiting: 1 }, others: { key_ada: false, key_bob: false } },
    { limit: 'one key', policy: { maxWaitingPerKey: 1 }, others: { key_ada: false, key_bob: true } },
  ])('are limited by the policy $limit, and a further one is answered at once', async ({ policy, others }) => {
    const metrics = createMetrics({ processMetrics: false });
    await using small = await startTestApi();
    const waits = new Waits({ tail: small.tail, policy: { ...DEFAULT_POLICY.waiting, ...policy }, metrics });
    const gone = Promise.withResolvers<void>();
    const until = (lineageId: string, closed = gone.promise) =>
      waits.until({
        seconds: 50,
        lineageId,
        isRelevant: () => true,
        read: async () => 'read',
        isEnough: () => false,
        onClose: (listener) => void closed.then(listener),
      });
    const leave = Promise.withResolvers<void>();
    const first = until('key_ada', leave.promise);
    const answers = Object.entries(others).map(async ([lineageId, waited]) => [waited, await until(lineageId)]);
    // Admitted requests wait until they disconnect. All others are answered at once.
    await Promise.all(answers.filter((_, place) => Object.values(others)[place] === false));
    gone.resolve();
    expect(await Promise.all(answers)).toEqual(
      Object.values(others).map((waited) => [waited, { found: waited ? undefined : 'read', isGranted: false }]),
    );
    leave.resolve();
    expect(await first).toMatchObject({ found: undefined });
    // There is room for another one.
    const left = Promise.withResolvers<void>();
    const again = until('key_ada', left.promise);
    left.resolve();
    expect(await again).toMatchObject({ found: undefined });
  });
});
