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

/** What a workflow does with work, and what the relay does with what it announced. */
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

describe('creating with Prefer: wait', () => {
  it('answers 201 with the finished order as soon as it is finished, well before the time is over', async () => {
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

  it('answers 202 with where and when to look when the time is over', async () => {
    const answer = await create(input(), wait(1));
    expect([answer.status, answer.at('status')]).toEqual([202, 'accepted']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${answer.textAt('id')}`);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
  });

  it('answers at once without the preference, and says when to look', async () => {
    const answer = await create(input());
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('preference-applied')]).toEqual([
      202,
      '2',
      null,
    ]);
  });

  it('waits on while it is held, which passes by itself, and not when only a person brings the next step', async () => {
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

  it('grants no more than the policy', async () => {
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

  it('sees what ended before anybody waited: nothing is lost between storing and listening', async () => {
    const body = input();
    const key = randomUUID();
    const first = await create(body, {}, key);
    await move('order', first.textAt('id'), 'failed');
    const answer = await create(body, wait(40), key);
    expect([answer.status, answer.at('status')]).toEqual([201, 'failed']);
  });

  it('is refused before it waits: a wrong body, a missing key, a reference that is taken', async () => {
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

describe('a repetition', () => {
  it('gets the stored acceptance byte for byte, also when the first one was answered with the finished order', async () => {
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

  it('that would wait gets the order as it is, and makes no second one', async () => {
    const body = input();
    const key = randomUUID();
    const first = create(body, wait(40), key);
    const id = await idOf(body.external_order_id);
    await untilWaiting(1);
    // The first one still waits: it is accepted and committed, so the key is not in progress any more.
    const second = create(body, wait(40), key);
    await untilWaiting(2);
    await move('order', id, 'failed');
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });
});

describe('reading with ?wait', () => {
  const accepted = async () => (await create(input())).textAt('id');
  const told = ({ headers }: HttpAnswer) => [headers.get('preference-applied'), headers.get('retry-after')];

  it('answers at once when it is finished already, and when it does not exist', async () => {
    const id = await accepted();
    await move('order', id, 'failed');
    expect((await caller.get(`/v1/orders/${id}?wait=40`)).at('status')).toBe('failed');
    expect((await caller.get(`/v1/orders/${newId('order')}?wait=40`)).status).toBe(404);
  });

  it('answers with what it is when the time is over, says that it was waited, and when to ask again', async () => {
    const id = await accepted();
    const answer = await caller.get(`/v1/orders/${id}?wait=1`);
    expect([answer.status, answer.at('status'), ...told(answer)]).toEqual([200, 'accepted', 'wait=1', '2']);
    expect(told(await caller.get(`/v1/orders/${id}`))).toEqual([null, null]);
  });

  it('says of a wait that it did not grant when to ask again, and nothing else', async () => {
    const stopped = await startTestApi();
    const by = await stopped.caller();
    const id = (await create(input(), {}, randomUUID(), by)).textAt('id');
    const answering = by.get(`/v1/orders/${id}?wait=50`);
    await waitFor('it waits', async () => (await waiting(by)) === 1);
    await stopped.tail.stop();
    expect(told(await answering)).toEqual([null, '2']);
    expect(told(await by.get(`/v1/orders/${id}?wait=50`))).toEqual([null, '2']);
    await stopped[Symbol.asyncDispose]();
  });

  it('says when to ask again unless what is waited for has come: seldom, where a person brings the next step', async () => {
    const id = await accepted();
    await move('order', id, 'needs_attention');
    expect(told(await caller.get(`/v1/orders/${id}?wait=40`))).toEqual(['wait=40', '60']);
    expect(told(await caller.get(`/v1/orders/${id}?wait=40&until=needs_attention`))).toEqual(['wait=40', null]);
    await move('order', id, 'failed');
    expect(told(await caller.get(`/v1/orders/${id}?wait=40&until=completed`))).toEqual(['wait=40', null]);
    expect(told(await caller.get(`/v1/orders/${id}?wait=1000`))).toEqual(['wait=50', null]);
  });

  it('waits for the statuses that are asked for, and for none that cannot come any more', async () => {
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

describe('ending a VPN subscription', () => {
  /** One that is bought, as its workflow leaves it. @returns its address. */
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

  it('with Prefer: wait answers 200 when it has ended, since active is where it began', async () => {
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

  it('answers 202 with where and when to look: at once without the preference, and with it when the time is over', async () => {
    const { path } = await active();
    const seen = ({ status, headers }: HttpAnswer) => [
      status,
      ...['location', 'retry-after', 'preference-applied'].map((name) => headers.get(name)),
    ];
    expect(seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }))).toEqual([202, path, '2', null]);
    // Asked for already: the answer is the same.
    expect(seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }))).toEqual([202, path, '2', null]);
    expect(seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(1) }))).toEqual([
      202,
      path,
      '2',
      'wait=1',
    ]);
  });

  it('needs no reason: what is not said stands neither in the timeline nor in the audit log', async () => {
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

  it('is refused once it has ended in another way, and says again that it is cancelled', async () => {
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

  it('answers 202 and to look seldom where only a person brings the end', async () => {
    const { id, path } = await active();
    const ending = caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(40) });
    await untilWaiting(1);
    await move('vpn_subscription', id, 'needs_attention');
    const { status, headers } = await ending;
    expect([status, headers.get('location'), headers.get('retry-after')]).toEqual([202, path, '60']);
  });
});

describe('every call that may wait', () => {
  it('describes what it answers: where to look, when, and how long was waited', () => {
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

  it('describes of a GET as well that it may say when to ask again, and that it was waited', () => {
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

describe('those who wait', () => {
  it('hold no connection of the database, and a thousand of them are answered by one change each', async () => {
    // They wait longer than it takes until all do, on a busy machine too.
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
    // A hundred at a time: each reads before it waits, and more of them than that would be too long in the queue for
    // the five connections.
    for (let n = 1; n <= 10; n += 1) {
      const id = (await create(input(), {}, randomUUID(), by)).textAt('id');
      ids.push(id);
      answering.push(...Array.from({ length: 100 }, () => by.get(`/v1/orders/${id}?wait=${MAX_WAIT_MS / 1_000}`)));
      await waitFor(`${n} hundred wait`, async () => (await waiting(by)) === 100 * n);
    }
    // The pool has five connections: were they held, this would not be answered.
    expect(
      (await Promise.all(Array.from({ length: 20 }, () => by.get('/v1/orders?limit=1')))).every(
        ({ status }) => status === 200,
      ),
    ).toBe(true);
    for (const [n, id] of ids.entries()) {
      await move('order', id, 'failed', crowded);
      await waitFor(
        'those who wait for it are answered, and no others',
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

  it('are forgotten when they go away', async () => {
    const id = (await create(input())).textAt('id');
    const leaving = new AbortController();
    const gone = fetch(`${api.baseUrl}/v1/orders/${id}?wait=50`, { headers: caller.headers, signal: leaving.signal });
    await untilWaiting(1);
    leaving.abort();
    await expect(gone).rejects.toThrow('aborted');
    await untilWaiting(0);
  });

  it('are answered 202 at once when the API stops', async () => {
    const stopped = await startTestApi();
    const by = await stopped.caller();
    const answering = create(input(), wait(50), randomUUID(), by);
    await waitFor('it waits', async () => (await waiting(by)) === 1);
    await stopped.tail.stop();
    const answer = await answering;
    expect([answer.status, answer.at('status')]).toEqual([202, 'accepted']);
    // Nobody begins to wait any more.
    const next = await create(input(), wait(50), randomUUID(), by);
    expect(next.status).toBe(202);
    // Neither was granted what it asked for, so neither is told that it was.
    for (const { headers } of [answer, next])
      expect([headers.get('retry-after'), headers.get('preference-applied')]).toEqual(['2', null]);
    await stopped[Symbol.asyncDispose]();
  });

  it.each([
    { limit: 'all keys', policy: { maxWaiting: 1 }, others: { key_ada: false, key_bob: false } },
    { limit: 'one key', policy: { maxWaitingPerKey: 1 }, others: { key_ada: false, key_bob: true } },
  ])('are no more than the policy allows $limit: one more is answered at once', async ({ policy, others }) => {
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
    // Admitted requests wait until they disconnect; all others are answered at once.
    await Promise.all(answers.filter((_, place) => Object.values(others)[place] === false));
    gone.resolve();
    expect(await Promise.all(answers)).toEqual(
      Object.values(others).map((waited) => [waited, { found: waited ? undefined : 'read', isGranted: false }]),
    );
    leave.resolve();
    expect(await first).toMatchObject({ found: undefined });
    // There is room again.
    const left = Promise.withResolvers<void>();
    const again = until('key_ada', left.promise);
    left.resolve();
    expect(await again).toMatchObject({ found: undefined });
  });
});
