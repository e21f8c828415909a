import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: NORMAL_WAITS_POLICY }));
const desk = checkedDesk(stack);

async function replaceWorker(): Promise<void> {
  await stack.kill('worker');
  expect(await stack.process('worker').exit()).toEqual({ code: null, signal: 'SIGKILL' });
  await stack.start('worker');
}

describe('a worker that is killed', () => {
  it('between the purchase and its record leaves the resend to the next worker; one debit remains', async () => {
    // The answer is held, events are lost and reads fail: the new worker has only the data stored before the send.
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 60_000, at: 'answer' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.bought(id);
    // No part of the answer was stored.
    expect(await desk.attempts(id)).toMatchObject([{ state: 'sending', sends: 1, serviceId: null }]);
    await replaceWorker();
    await desk.reaches(id, 'completed');
    const [sends, ...otherAttempts] = await desk.sends(id);
    expect(otherAttempts).toEqual([]);
    expect(sends).toHaveLength(2);
    expect(sends![1]!.body_sha256).toBe(sends![0]!.body_sha256);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it.each([
    ['between both, before the webhook arrives, loses no webhook', 'answer', 60_000],
    ['while the service processes its request leaves the order to the next worker', 'work', 10_000],
  ] as const)('%s; one debit remains', async (_when, at, ms) => {
    if (at === 'answer') await desk.refuseReads();
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms, at });
    await desk.simulator.onWebhook('order.completed', { kind: 'late', ms: 1_000 });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await waitFor('the service has the request', async () => (await desk.sends(id)).flat().length === 1);
    if (at === 'answer') await desk.bought(id);
    expect(await desk.ledger(id)).toHaveLength(at === 'answer' ? 1 : 0);
    await replaceWorker();
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('by SIGTERM during slow sends of first tasks waits for them, so that none is unknown', async () => {
    const count = 12;
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 4_000, at: 'answer' }, { count });
    const ids = await Promise.all(Array.from({ length: count }, () => desk.place(PACKAGE.completedAtOnce)));
    await waitFor('the service has all requests', async () => {
      return (await Promise.all(ids.map((id) => desk.sends(id)))).flat(2).length === count;
    });
    await stack.process('worker').stop();
    const stopped = (await Promise.all(ids.map((id) => desk.attempts(id)))).flat();
    expect(stopped.map(({ state, sends }) => ({ state, sends }))).toEqual(
      ids.map(() => ({ state: 'completed', sends: 1 })),
    );
    await stack.start('worker');
    for (const id of ids) await desk.reaches(id, 'completed');
  });
});
