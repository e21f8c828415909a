/** Drills of failures and of a deploy on a cluster under load: nothing accepted is lost, nothing is bought twice. */
import { startLoadBalancer } from '#cli/start/load-balancer.ts';
import { paidTwice, PURCHASES, QUIET_MS, SIMULATOR, type DrillFindings, type DrillSize } from '#test/drill/drill.ts';
import { ShopLoad, type ShopRequest } from '#test/drill/load.ts';
import { startMachine } from '#test/drill/machine.ts';
import { prepareDeploy } from '#test/drill/rolling-deploy.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import { startPostgresPair } from '#test/support/servers/postgres-pair.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { auditBooks } from '#test/support/work/books/books.ts';
import { isAtRest, readWork } from '#test/support/work/books/both-sides.ts';

/**
 * The loss of one API and one worker; of the Temporal server; of the primary PostgreSQL server, ours and Temporal's; a
 * deploy of a version with other workflows.
 */
export const CLUSTER_EVENTS = ['machine', 'temporal', 'postgres', 'deploy'] as const;
export type ClusterEvent = (typeof CLUSTER_EVENTS)[number];

/** What a drill measured. Times in milliseconds since the event began. */
export interface ClusterDrillResult extends DrillFindings {
  /** Requests that were accepted, all and before the event. */
  readonly accepted: number;
  readonly acceptedBefore: number;
  /** Requests accepted before the event whose work had not ended then. */
  readonly open: number;
  /** Until the failed server works again, or its replica, or new work goes to the new version. A machine stays lost. */
  readonly restoredMs: number;
  readonly acceptsMs: number;
  /** Until all work that was accepted before it had ended; infinite when it has not. */
  readonly deliveredMs: number;
  /** Until the workers of the old version have stopped; undefined without a deploy. */
  readonly removedMs: number | undefined;
  /** Requests that were not accepted at once, and were repeated. */
  readonly repeated: number;
}

/** Runs a drill on a cluster of its own: two machines, a Temporal server and PostgreSQL with a synchronous replica. */
export async function runClusterDrill(drill: DrillSize & { event: ClusterEvent }): Promise<ClusterDrillResult> {
  const { event, purchases = PURCHASES } = drill;
  const shared = drill.servers === undefined ? {} : { servers: drill.servers };
  await using postgres = await startPostgresPair();
  await using temporal = await startOwnCluster({ postgresUrl: postgres.url });
  await using stack = await startStack({ postgres, temporal, simulator: SIMULATOR, start: ['simulator'], ...shared });
  await using deploy = event === 'deploy' ? await prepareDeploy(stack) : undefined;
  await using first = await startMachine(stack, deploy?.startOldWorker);
  await using second = await startMachine(stack, deploy?.startOldWorker);
  const machines = [first, second];
  await deploy?.begin();
  const port = Number(stack.environments.api['API_PORT']);
  const balancer = await startLoadBalancer({ port, apis: machines.map(({ apiPort }) => apiPort) });
  try {
    const load = new ShopLoad(stack, drill.shops);
    await load.reaches(purchases);

    const before = load.accepted.map(({ id = '' }) => id);
    const open = (await unfinished(stack, before)).length;
    const beganMs = Date.now();
    const since = () => Date.now() - beganMs;
    const begin: Readonly<Record<ClusterEvent, () => Promise<void> | undefined>> = {
      machine: () => first.kill(),
      temporal: () => temporal.kill().then(() => temporal.start()),
      postgres: () => postgres.failOver(),
      deploy: () => deploy?.deploy(machines),
    };
    const restored = Promise.resolve(begin[event]()).then(since);
    const delivered = waitFor(
      'all work of before has ended',
      async () => {
        const left = await unfinished(stack, before);
        if (left.length > 0) throw new Error(left.join(', '));
        return true;
      },
      { timeoutMs: QUIET_MS, everyMs: 100 },
    ).then(since, () => Infinity);
    const restoredMs = await restored;
    await load.reaches(load.accepted.length + purchases);
    await load.stop();
    const deliveredMs = await delivered;
    const removedMs = await deploy?.removeOld(machines).then(since);
    await load.repeat(load.requests.filter(({ id }) => id === undefined));

    const accepted = load.accepted.map(({ id = '' }) => id);
    return {
      accepted: accepted.length,
      acceptedBefore: before.length,
      open,
      restoredMs,
      acceptsMs: firstAcceptance(load.requests, beganMs) - beganMs,
      deliveredMs,
      removedMs,
      repeated: load.requests.filter(({ isRepeated }) => isRepeated === true).length,
      differences: await auditBooks(stack, { accepted, timeoutMs: QUIET_MS }),
      paidTwice: await paidTwice(stack),
    };
  } finally {
    await balancer.close();
  }
}

/** The ids of work that has neither ended nor waits for a person, as work whose purchases all failed does. */
async function unfinished({ database }: Stack, ids: readonly string[]): Promise<string[]> {
  const work = await database.run(readWork);
  const atRest = new Set(work.filter(({ status }) => isAtRest(status)).map(({ id }) => id));
  return ids.filter((id) => !atRest.has(id));
}

/** Time of the first acceptance of a request that was placed after a time. Epoch milliseconds. */
function firstAcceptance(requests: readonly ShopRequest[], sinceMs: number): number {
  const times = requests.flatMap(({ acceptedAtMs = 0 }) => (acceptedAtMs > sinceMs ? [acceptedAtMs] : []));
  return Math.min(...times);
}
