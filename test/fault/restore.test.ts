import { randomUUID } from 'node:crypto';
import { describe, expect, it, type TestContext } from 'vitest';
import { endPause, pausePurchases } from '#test/drill/pauses.ts';
import { postOnce } from '#test/support/api/keys.ts';
import {
  startOwnPostgres,
  startOwnTemporal,
  type OwnPostgres,
  type OwnTemporal,
} from '#test/support/servers/own-servers.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { auditBooks } from '#test/support/work/books/books.ts';
import { OrderDesk, PACKAGE, subscriptionInput } from '#test/support/work/order-desk.ts';

/** A restore and the repairs after it take several waits of the sweeper and the reconciler. */
const SLOWEST_MS = 1_200_000;

const TOP_UP_PACKAGE = 1002;
const VPN_PLAN = 301;

async function begin(
  servers: { postgres?: OwnPostgres; temporal?: OwnTemporal },
  atEnd: TestContext['onTestFinished'],
  capabilities: Readonly<Record<string, string>> = {},
  dialect = 'replays',
) {
  for (const server of Object.values(servers)) atEnd(() => server[Symbol.asyncDispose]());
  const simulator = {
    SIMULATOR_PROCESSING_DELAY: '1s',
    SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms',
    SIMULATOR_DIALECT: dialect,
  };
  // A restored Temporal has lost its last signals. Held work checks the gate again after this time.
  const environment = { 'gate.recheck': '10s', ...capabilities };
  const stack = await startStack({ ...servers, simulator, environment });
  atEnd(() => stack[Symbol.asyncDispose]());
  return { stack, desk: new OrderDesk(stack) };
}

/** Places work of each kind that buys, held at the gate, so that it is sent after a backup. @returns its paths. */
async function placeHeld(desk: OrderDesk): Promise<string[]> {
  const esim = await desk.newEsim();
  await pausePurchases(desk.stack);
  const paths = [
    `/v1/orders/${await desk.place(PACKAGE.completedAtOnce)}`,
    `/v1/orders/${await desk.place(PACKAGE.processingThenCompleted)}`,
    `/v1/topups/${await desk.topUp(esim, TOP_UP_PACKAGE)}`,
    `/v1/vpn/subscriptions/${await desk.subscribe(VPN_PLAN)}`,
  ];
  for (const path of paths) await desk.stack.workReaches(path, ['held']);
  return paths;
}

async function endOf(stack: Stack, path: string): Promise<string> {
  return (await stack.workReaches(path, ['completed', 'active', 'needs_attention'])).textAt('status');
}

/** A restored database cannot know an acknowledged delivery. */
async function differences({ stack, accepted }: OrderDesk): Promise<string[]> {
  return auditBooks(stack, { accepted, mayBeLost: () => true });
}

async function debits(desk: OrderDesk): Promise<number> {
  return (await desk.simulator.ledger()).filter(({ type }) => type === 'debit').length;
}

describe.concurrent(
  'PostgreSQL restored to a time before sends that Temporal has executed',
  { timeout: SLOWEST_MS },
  () => {
    it.for([
      { service: 'repeats the answer to a known key', dialect: 'replays', capabilities: {} },
      {
        service: 'buys again for a known key, so that nothing may be sent twice',
        dialect: 'ignores_keys',
        capabilities: { SERVICE_MISSING_CAPABILITIES: 'key_replay' },
      },
    ])(
      'pays once for each work and completes all, if the service $service',
      async ({ dialect, capabilities }, { onTestFinished }) => {
        const postgres = await startOwnPostgres();
        const { stack, desk } = await begin({ postgres }, onTestFinished, capabilities, dialect);
        const paths = await placeHeld(desk);
        const backup = await postgres.backUp();

        await endPause(stack);
        for (const path of paths) await stack.workReaches(path, ['completed', 'active']);
        const paid = await debits(desk);
        await postgres.restore(backup);
        await endPause(stack);

        const ends = await Promise.all(paths.map((path) => endOf(stack, path)));
        expect(await debits(desk)).toBe(paid);
        expect(await differences(desk)).toEqual([]);
        expect(ends).toEqual(['completed', 'completed', 'completed', 'active']);
      },
    );

    it('gives repeated requests from after the backup the same ids, and executes each once', async ({
      onTestFinished,
    }) => {
      const postgres = await startOwnPostgres();
      const { stack, desk } = await begin({ postgres }, onTestFinished);
      const [recharged, cancelled] = [await desk.newEsim(), await desk.newEsim()];
      const backup = await postgres.backUp();
      const requests = [
        {
          path: '/v1/orders',
          body: { package_id: PACKAGE.completedAtOnce, external_order_id: randomUUID() },
          end: 'completed',
        },
        {
          path: '/v1/topups',
          body: { esim_id: recharged, package_id: TOP_UP_PACKAGE, external_topup_id: randomUUID() },
          end: 'completed',
        },
        { path: '/v1/vpn/subscriptions', body: subscriptionInput(VPN_PLAN), end: 'active' },
        { path: `/v1/esims/${cancelled}/cancel`, body: {}, end: 'completed' },
      ].map((each) => ({ ...each, key: randomUUID() }));
      const requestAll = () => Promise.all(requests.map((each) => execute(stack, each)));
      const [order, topup, subscription] = await requestAll();
      const movements = await desk.simulator.ledger();

      await postgres.restore(backup);
      // The cancellation gets another id. It costs nothing, because the eSIM is cancelled already.
      expect((await requestAll()).slice(0, 3)).toEqual([order, topup, subscription]);
      expect(await desk.simulator.ledger()).toEqual(movements);
      expect(await differences(desk)).toEqual([]);
    });
  },
);

interface WorkRequest {
  readonly path: string;
  readonly body: object;
  readonly key: string;
  readonly end: string;
}

/** Repeats a request until it is accepted, and waits for the end of the work. @returns its id. */
async function execute(stack: Stack, { path, body, key, end }: WorkRequest): Promise<string> {
  const answer = await waitFor(`POST ${path} is accepted`, async () => {
    const given = await postOnce(stack.api, path, body, key);
    if (given.status !== 202) throw new Error(`${given.status}: ${given.text}`);
    return given;
  });
  const id = answer.textAt('id');
  await stack.workReaches(answer.headers.get('location') ?? '', [end]);
  return id;
}

describe.concurrent('Temporal restored to a time before PostgreSQL’s, or empty', { timeout: SLOWEST_MS }, () => {
  it.for(['an hour older', 'empty'] as const)(
    'pays once for each work and completes all: %s',
    async (how, { onTestFinished }) => {
      const temporal = await startOwnTemporal();
      const { stack, desk } = await begin({ temporal }, onTestFinished);
      const paths = await placeHeld(desk);
      const backup = how === 'empty' ? undefined : await temporal.backUp();
      await endPause(stack);
      const [first, ...others] = paths;
      if (first === undefined) throw new Error('nothing was placed');
      await stack.workReaches(first, ['completed']);
      // The other work is in any state now.
      await stack.kill('worker');
      await temporal.restore(backup);
      await stack.start('worker');

      const ends = await Promise.all(others.map((path) => endOf(stack, path)));
      expect(await differences(desk)).toEqual([]);
      expect(ends).toEqual(['completed', 'completed', 'active']);
      // The eSIM, the two orders, the top-up and the subscription.
      expect(await debits(desk)).toBe(5);
    },
  );
});
