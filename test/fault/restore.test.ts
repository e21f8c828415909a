import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { auditBooks } from '#test/support/books.ts';
import { OrderDesk, PACKAGE } from '#test/support/order-desk.ts';
import { startOwnPostgres, startOwnTemporal, type OwnPostgres, type OwnTemporal } from '#test/support/own-servers.ts';
import { startStack, type Stack } from '#test/support/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** Restoring, and all that heals afterwards, takes several waits of the sweeper and the reconciler. */
const SLOWEST_MS = 600_000;

const TOP_UP_PACKAGE = 1002;
const VPN_PLAN = 301;
const PAUSES = '/v1/purchase-gate/pauses';

let running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of running.toReversed()) await each[Symbol.asyncDispose]();
  running = [];
});

async function begin(servers: { postgres?: OwnPostgres; temporal?: OwnTemporal }) {
  running.push(...Object.values(servers));
  const simulator = { SIMULATOR_PROCESSING_DELAY: '1s', SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms' };
  const stack = await startStack({ ...servers, simulator });
  running.push(stack);
  return { stack, desk: new OrderDesk(stack) };
}

/** One of each kind that buys, held at the purchase gate, so that all of it is sent after a backup. @returns their addresses. */
async function placeHeld(desk: OrderDesk): Promise<string[]> {
  const esim = await desk.newEsim();
  await pause(desk.stack);
  const paths = [
    `/v1/orders/${await desk.place(PACKAGE.completedAtOnce)}`,
    `/v1/orders/${await desk.place(PACKAGE.processingThenCompleted)}`,
    `/v1/topups/${await desk.topUp(esim, TOP_UP_PACKAGE)}`,
    `/v1/vpn/subscriptions/${await desk.subscribe(VPN_PLAN)}`,
  ];
  for (const path of paths) await desk.stack.workReaches(path, ['held']);
  return paths;
}

async function pause(stack: Stack): Promise<void> {
  const answer = await stack.api.post(PAUSES, { why: 'A backup is made.' }, { headers: { 'idempotency-key': randomUUID() } });
  expect(answer.status).toBe(201);
}

async function releasePauses(stack: Stack): Promise<void> {
  const pauses = await waitFor('the API reads its database again', async () => {
    const answer = await stack.api.get(PAUSES);
    return answer.status === 200 ? answer : undefined;
  });
  const [id] = [pauses.at('data', 0, 'id')];
  if (typeof id !== 'string') throw new Error(`no pause is in force: ${pauses.text}`);
  expect((await stack.api.post(`${PAUSES}/${id}/release`, { why: 'It is made.' })).status).toBe(200);
}

const ENDS = ['completed', 'active', 'needs_attention'] as const;

async function statusOf(stack: Stack, path: string): Promise<string> {
  return (await stack.workReaches(path, ENDS)).textAt('status');
}

/** Everything but what a restored database cannot know: which deliveries it had acknowledged. */
async function differences(desk: OrderDesk, unsettled: readonly string[] = []): Promise<string[]> {
  const all = await auditBooks(desk.stack, { accepted: desk.accepted, unsettled });
  return all.filter((each) => !each.endsWith('was acknowledged and is not stored'));
}

async function debits(desk: OrderDesk): Promise<number> {
  return (await desk.simulator.ledger()).filter(({ type }) => type === 'debit').length;
}

describe('PostgreSQL restored to a moment before work was sent, beside a Temporal that has carried it out', { timeout: SLOWEST_MS }, () => {
  it('pays once for each, and all of it is done', async () => {
    const postgres = await startOwnPostgres();
    const { stack, desk } = await begin({ postgres });
    const paths = await placeHeld(desk);
    const backup = await postgres.backUp();

    await releasePauses(stack);
    for (const path of paths) await stack.workReaches(path, ['completed', 'active']);
    const paid = await debits(desk);
    await postgres.restore(backup);
    await releasePauses(stack);

    const ends = await Promise.all(paths.map((path) => statusOf(stack, path)));
    expect(await debits(desk)).toBe(paid);
    expect(await differences(desk)).toEqual([]);
    expect(ends).toEqual(['completed', 'completed', 'completed', 'active']);
  });
});

describe('Temporal restored to an earlier moment, or empty, beside a PostgreSQL that knows more', { timeout: SLOWEST_MS }, () => {
  it.each(['an hour older', 'empty'] as const)('pays once for each, and all of it is done: %s', async (how) => {
    const temporal = await startOwnTemporal();
    const { stack, desk } = await begin({ temporal });
    const paths = await placeHeld(desk);
    const backup = how === 'empty' ? undefined : await temporal.backUp();
    await releasePauses(stack);
    const [first, ...others] = paths;
    if (first === undefined) throw new Error('nothing was placed');
    await stack.workReaches(first, ['completed']);
    // The rest is wherever it is by now.
    await stack.kill('worker');
    await temporal.restore(backup);
    await stack.start('worker');

    const ends = await Promise.all(others.map((path) => statusOf(stack, path)));
    expect(await differences(desk)).toEqual([]);
    expect(ends).toEqual(['completed', 'completed', 'active']);
    // The eSIM, the two orders, the top-up and the subscription.
    expect(await debits(desk)).toBe(5);
  });
});
