import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Waits } from '#api/waits/waits.ts';
import { MAX_WAIT_MS } from '#domain/policy/api-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { move, untilWaiting, wait, waitingCreations } from '#test/support/api/waiting-calls.ts';
import { waitingCallers } from '#test/support/api/waits.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const { create } = waitingCreations(() => caller);

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
      const id = (await create(orderInput(), {}, randomUUID(), by)).textAt('id');
      ids.push(id);
      answering.push(...Array.from({ length: 100 }, () => by.get(`/v1/orders/${id}?wait=${MAX_WAIT_MS / 1_000}`)));
      await waitFor(`${n} hundred wait`, async () => (await waitingCallers(by)) === 100 * n);
    }
    // The pool has five connections. If the callers held them, this would not be answered.
    expect(
      (await Promise.all(Array.from({ length: 20 }, () => by.get('/v1/orders?limit=1')))).every(
        ({ status }) => status === 200,
      ),
    ).toBe(true);
    for (const [n, id] of ids.entries()) {
      await move(crowded, 'order', id, 'failed');
      await waitFor(
        'its own waiting callers are answered, and no others',
        async () => (await waitingCallers(by)) === 900 - 100 * n,
      );
    }
    const answers = await Promise.all(answering);
    expect(
      answers
        .filter((answer) => answer.status !== 200 || answer.at('status') !== 'failed')
        .map(({ status, text }) => [status, text]),
    ).toEqual([]);
  });

  it('share one read of the database, of their key and of an event when one turn of the tail wakes them', async () => {
    await using many = await startTestApi();
    const callers = [await many.caller(), await many.caller(undefined, { ownWorkOnly: true })];
    const created = callers.map((by) =>
      Promise.all(
        Array.from({ length: 10 }, async () => (await create(orderInput(), {}, randomUUID(), by)).textAt('id')),
      ),
    );
    const ids = await Promise.all(created);
    await many.publish();
    const cursor = (await callers[0]!.get('/v1/events?limit=100')).textAt('next_cursor');
    const answering = callers.flatMap((by, of) => [
      ...(ids[of] ?? []).flatMap((id) => [1, 2, 3].map(() => by.get(`/v1/orders/${id}?wait=50`))),
      ...Array.from({ length: 20 }, () => by.get(`/v1/events?wait=50&cursor=${cursor}`)),
    ]);
    await waitFor('all wait', async () => (await waitingCallers(callers[0]!)) === answering.length);
    await many.database.transaction(async (tx) => {
      const step = { status: 'failed', event: 'order.failed', message: 'Test.' } as const;
      for (const id of ids.flat()) await recordStep(tx, { work: { kind: 'order', id }, ...step }, new Date(TEST_NOW));
    });
    const statements = await statementsOf(async () => {
      await many.publish();
      expect((await Promise.all(answering)).map(({ status }) => status)).toEqual(answering.map(() => 200));
    });
    const reads = (table: string) =>
      statements.filter((text) => new RegExp(`^select .* from "${table}"`, 's').test(text));
    // One for each owner.
    expect(reads('orders')).toHaveLength(2);
    // One for each owner, again when its orders and its events were not read in the same turn.
    expect(reads('api_keys').length).toBeLessThanOrEqual(4);
    // Two by the publication, one by the tail.
    expect(reads('events')).toHaveLength(3);
    const heard = await answering.at(-1)!;
    expect(heard.at('data'), 'only its own').toHaveLength(10);
    const next = await callers[1]!.get(`/v1/events?cursor=${heard.textAt('next_cursor')}`);
    expect(next.at('data')).toEqual([]);
  });

  it('are removed when they disconnect', async () => {
    const id = (await create(orderInput())).textAt('id');
    const leaving = new AbortController();
    const gone = fetch(`${api.baseUrl}/v1/orders/${id}?wait=50`, { headers: caller.headers, signal: leaving.signal });
    await untilWaiting(caller, 1);
    leaving.abort();
    await expect(gone).rejects.toThrow('aborted');
    await untilWaiting(caller, 0);
  });

  it('get 202 at once when the API stops', async () => {
    const stopped = await startTestApi();
    const by = await stopped.caller();
    const answering = create(orderInput(), wait(50), randomUUID(), by);
    await waitFor('it waits', async () => (await waitingCallers(by)) === 1);
    await stopped.tail.stop();
    const answer = await answering;
    expect([answer.status, answer.at('status')]).toEqual([202, 'accepted']);
    // No new caller waits.
    const next = await create(orderInput(), wait(50), randomUUID(), by);
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
