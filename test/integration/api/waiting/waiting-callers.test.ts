import { describe, expect, it } from 'vitest';
import { Waits } from '#api/waits/waits.ts';
import { MAX_WAIT_MS } from '#domain/policy/api-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { orderInput, orderOf } from '#test/support/api/order-calls.ts';
import { move, untilWaiting, wait, waitHeaders, waitingCreations } from '#test/support/api/waiting-calls.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { statementsOf } from '#test/support/servers/statements.ts';

const { api, caller } = await apiOfFile();

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
      const id = (await create(orderInput(), {}, undefined, by)).textAt('id');
      ids.push(id);
      answering.push(...Array.from({ length: 100 }, () => by.get(`/v1/orders/${id}?wait=${MAX_WAIT_MS / 1_000}`)));
      await untilWaiting(by, 100 * n);
    }
    // The pool has five connections. If the callers held them, this would not be answered.
    const others = await Promise.all(Array.from({ length: 20 }, () => by.get('/v1/orders?limit=1')));
    expect(others.every(({ status }) => status === 200)).toBe(true);
    for (const [n, id] of ids.entries()) {
      await move(crowded, 'order', id, 'failed');
      // Its own waiting callers are answered, and no others.
      await untilWaiting(by, 900 - 100 * n);
    }
    const answers = await Promise.all(answering);
    const found = answers.map((answer) => `${answer.status} ${String(answer.at('status'))}`);
    expect(new Set(found)).toEqual(new Set(['200 failed']));
  });

  it('share one read of the database, of their key and of an event when one turn of the tail wakes them', async () => {
    await using many = await startTestApi();
    const callers = [await many.caller(), await many.caller(undefined, { ownWorkOnly: true })];
    const created = callers.map((by) =>
      Promise.all(Array.from({ length: 10 }, async () => (await create(orderInput(), {}, undefined, by)).textAt('id'))),
    );
    const ids = await Promise.all(created);
    await many.publish();
    const cursor = (await callers[0]!.get('/v1/events?limit=100')).textAt('next_cursor');
    const answering = callers.flatMap((by, of) => [
      ...(ids[of] ?? []).flatMap((id) => [1, 2, 3].map(() => by.get(`/v1/orders/${id}?wait=50`))),
      ...Array.from({ length: 20 }, () => by.get(`/v1/events?wait=50&cursor=${cursor}`)),
    ]);
    await untilWaiting(callers[0]!, answering.length);
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

  it('are answered at once when the API stops, without Preference-Applied, and no new one waits', async () => {
    await using stopped = await startTestApi();
    const by = await stopped.caller();
    const { id } = orderOf(await create(orderInput(), {}, undefined, by));
    const [creating, reading] = [create(orderInput(), wait(50), undefined, by), by.get(`/v1/orders/${id}?wait=50`)];
    await untilWaiting(by, 2);
    await stopped.tail.stop();
    const answers = [await creating, await reading, await create(orderInput(), wait(50), undefined, by)];
    expect(answers.map((answer) => [answer.status, answer.at('status'), ...waitHeaders(answer)])).toEqual([
      [202, 'accepted', null, '2'],
      [200, 'accepted', null, '2'],
      [202, 'accepted', null, '2'],
    ]);
  });

  it.each([
    ['all keys', { maxWaiting: 1 }, 'read'],
    ['one key', { maxWaitingPerKey: 1 }, undefined],
  ] as const)(
    'are limited by the policy for %s, and a further one is answered at once',
    async (_of, limit, ofOther) => {
      const metrics = createMetrics({ processMetrics: false });
      const waits = new Waits({ tail: api.tail, policy: { ...DEFAULT_POLICY.waiting, ...limit }, metrics });
      const begin = (lineageId: string) => {
        const { promise: left, resolve: leave } = Promise.withResolvers<void>();
        const onClose = (listener: () => void) => void left.then(listener);
        const read = async () => 'read';
        const wait = { seconds: 50, lineageId, isRelevant: () => true, read, isEnough: () => false, onClose };
        return { answer: waits.until(wait), leave };
      };
      const first = begin('key_ada');
      expect(await begin('key_ada').answer).toEqual({ found: 'read', isGranted: false });
      const other = begin('key_bob');
      other.leave();
      expect((await other.answer).found).toBe(ofOther);
      first.leave();
      expect((await first.answer).found).toBeUndefined();
      // There is room for another one.
      const again = begin('key_ada');
      again.leave();
      expect((await again.answer).found).toBeUndefined();
    },
  );
});
