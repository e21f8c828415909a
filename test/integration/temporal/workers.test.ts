/** The workers of a process: heartbeats, limits of all processes together, and which version gets which work. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { bundleWorkflowCode, DefaultLogger, type NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkWorkflowTasks } from '#cli/doctor/checks/temporal.ts';
import { deleteVersion, setCurrent, setRamping, showDeployment } from '#cli/set-up/deployment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import { connectNative, createClient } from '#temporal/connection.ts';
import type { ListedVersion } from '#temporal/worker-versions.ts';
import {
  beatingWorkflow,
  type LongActivities,
  pinnedWorkflow,
  readingWorkflow,
  upgradingWorkflow,
  workSignal,
} from '#test/integration/temporal/temporal-workflows.ts';
import { captured } from '#test/support/cli-output.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { createWorkers, heartbeat, HEARTBEAT_OPTIONS } from '#worker/workers.ts';
import { TASK_QUEUE } from '#workflows/messages.ts';

quietRuntime();

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const workflowsPath = fileURLToPath(new URL('temporal-workflows.ts', import.meta.url));
const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });

type Temporal = ReturnType<typeof temporalConfig>;

/** A connection until the end of the test. */
async function connected(temporal: Temporal): Promise<NativeConnection> {
  const connection = await connectNative(temporal);
  onTestFinished(() => connection.close());
  return connection;
}

/** Starts all workers of one process, until the end of the test. */
async function startWorkers(
  temporal: Temporal,
  connection: NativeConnection,
  activities: object,
  more: Partial<Parameters<typeof createWorkers>[0]['config']>,
): Promise<void> {
  const workers = await createWorkers({
    connection,
    workflowBundle: { code },
    activities,
    webhookActivities: activities,
    dataConverter: createWorkerDataConverter(keyRing),
    config: {
      temporal,
      shutdownGraceMs: 1_000,
      purchasesPerSecond: undefined,
      readsPerSecond: undefined,
      deployment: undefined,
      tracing: undefined,
      ...more,
    },
  });
  const ends = workers.map((worker) => worker.run());
  onTestFinished(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(ends);
  });
}

describe('heartbeats of an activity', () => {
  it('all reach the server, so one late and one lost heartbeat cause no timeout', async () => {
    const beatsBeforeTheEnd = 4;
    let made = 0;
    const seen = new Set<string>();
    const { promise: enough, resolve: end } = Promise.withResolvers<void>();
    const activities: LongActivities = {
      beat: () => {
        const context = Context.current();
        const original = context.heartbeat;
        Object.assign(context, {
          heartbeat: () => {
            made += 1;
            original.call(context);
          },
        });
        return enough;
      },
    };
    const temporal = temporalConfig(await createNamespace());
    const { namespace } = temporal;
    const connection = await connected(temporal);
    const taskQueue = randomUUID();
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      activities,
      workflowBundle: { code },
      interceptors: { activity: [heartbeat] },
      ...HEARTBEAT_OPTIONS,
    });
    await worker.runUntil(async () => {
      const { workflow } = new Client({ connection, namespace });
      const handle = await workflow.start(beatingWorkflow, { workflowId: randomUUID(), taskQueue });
      await expect
        .poll(async () => {
          const { raw } = await handle.describe();
          const last = raw.pendingActivities?.[0]?.lastHeartbeatTime;
          if (last?.seconds) seen.add(`${String(last.seconds)}.${String(last.nanos)}`);
          return made;
        })
        .toBeGreaterThanOrEqual(beatsBeforeTheEnd);
      end();
      await handle.result();
    });
    // The last one may still be on its way at the end.
    expect(seen.size).toBeGreaterThanOrEqual(beatsBeforeTheEnd - 1);
  });
});

describe('the limit of reads', () => {
  it('holds for the workers of two processes together', async () => {
    const [count, perSecond] = [20, 4];
    const temporal = temporalConfig(await createNamespace());
    // A process has one connection, and Temporal counts its workers by it.
    const connections = [await connected(temporal), await connected(temporal)] as const;
    for (const connection of connections)
      await startWorkers(temporal, connection, { beat: async () => undefined }, { readsPerSecond: perSecond });
    const { workflow } = createClient(connections[0], temporal, keyRing);
    const options = { workflowId: randomUUID(), taskQueue: TASK_QUEUE, args: [count] as [number] };
    const handle = await workflow.start(readingWorkflow, options);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const starts = (events ?? [])
      .filter((event) => event.activityTaskStartedEventAttributes != null)
      .map(({ eventTime }) => tsToMs(eventTime) / 1_000)
      .toSorted((a, b) => a - b);
    expect(starts).toHaveLength(count);
    // The server lets as many as a second allows begin at once. A slow machine only takes longer.
    const shortest = (count - 2 * perSecond) / perSecond;
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(shortest);
  });
});

/** A namespace with workers of several versions, and what they have done. */
async function openSite() {
  const temporal = temporalConfig(await createNamespace());
  const client = createClient(await connected(temporal), temporal, keyRing);
  /** `workflow version` of each activity, in order. */
  const done: string[] = [];
  /** Runs `begin`, which lets the workflow do an activity. @returns the version that did it. */
  const versionAfter = async (workflow: string, begin: () => Promise<unknown>): Promise<string> => {
    const before = done.length;
    await begin();
    const found = await waitFor(`${workflow} does an activity`, () =>
      done.slice(before).find((each) => each.startsWith(`${workflow} `)),
    );
    return found.slice(workflow.length + 1);
  };
  const wake = (id: string) => versionAfter(id, () => client.workflow.getHandle(id).signal(workSignal));
  /** The version that has completed the last workflow task of a run; `-`: a worker without one. */
  const versionOf = async (id: string) => {
    const { raw } = await client.workflow.getHandle(id).describe();
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId || '-';
  };
  /** The environment of our commands. */
  const environment: Record<string, string> = {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    WORKER_DEPLOYMENT_NAME: 'shop',
    WORKER_BUILD_ID: 'a',
  };
  /** What a command prints. */
  const command = async <Args extends unknown[]>(
    run: (...given: [...Args, Record<string, string>, { write(text: string): boolean }]) => Promise<void>,
    ...args: Args
  ): Promise<string> => {
    const output = captured();
    await run(...args, environment, output);
    return output.text();
  };
  return {
    client,
    environment,
    command,
    wake,
    /** Starts the workers of one process. @param buildId undefined: without a version. */
    start: async (buildId: string | undefined): Promise<void> => {
      const note = async (workflow: string) => void done.push(`${workflow} ${buildId ?? '-'}`);
      const deployment = buildId === undefined ? undefined : { deploymentName: 'shop', buildId };
      await startWorkers(temporal, await connected(temporal), { note }, { deployment });
    },
    begin: (workflow: typeof pinnedWorkflow, id: string) => {
      const options = { workflowId: id, taskQueue: TASK_QUEUE, args: [id] as [string] };
      return versionAfter(id, () => client.workflow.start(workflow, options));
    },
    /**
     * Wakes a workflow until this version takes it over. The queue of a worker that has the run in its cache learns a
     * change of the routing later than the command ends, and later than the queue of the activities.
     */
    takenOver: (id: string, version: string) =>
      waitFor(
        `${version} takes ${id} over`,
        async () => (await wake(id)) === version && (await versionOf(id)) === version,
      ),
    versions: async () => JSON.parse(await command(showDeployment, { json: true })) as ListedVersion[],
  };
}

describe('workers with versions', () => {
  it('take over the runs of workers without a version, and give them back', async () => {
    const site = await openSite();
    await site.start(undefined);
    // Without a version no behaviour is named, which the server would refuse.
    expect(await site.begin(upgradingWorkflow, 'upgrading')).toBe('-');
    expect(await site.begin(pinnedWorkflow, 'pinned')).toBe('-');
    await site.start('a');
    await waitFor('a is current', async () => (await site.command(setCurrent, 'a', {})) !== '');
    const unversioned = async (runs: number) => {
      const listed = (await site.versions()).filter(({ status }) => status === 'unversioned');
      return listed.reduce((sum, each) => sum + each.runs, 0) === runs;
    };
    await waitFor('the runs without a version are listed', () => unversioned(2));
    await site.takenOver('upgrading', 'a');
    await site.takenOver('pinned', 'a');
    await waitFor('none is listed', () => unversioned(0));
    await site.command(setCurrent, undefined, { unversioned: true });
    await site.takenOver('upgrading', '-');
    expect(await site.wake('pinned')).toBe('a');
    expect(await site.begin(pinnedWorkflow, 'new')).toBe('-');
  });
});

describe('reseller doctor', () => {
  it('names a workflow whose tasks fail again and again', async () => {
    const site = await openSite();
    await site.start(undefined);
    await site.begin(pinnedWorkflow, 'healthy');
    const { connection } = site.client;
    const { namespace } = site.client.options;
    expect(await checkWorkflowTasks(connection, namespace)).toMatchObject({ status: 'ok' });
    await site.client.workflow.start('notInThisVersion', { workflowId: 'broken', taskQueue: TASK_QUEUE });
    const found = await waitFor('its task has failed twice', async () => {
      const finding = await checkWorkflowTasks(connection, namespace);
      return finding.status === 'ok' ? undefined : finding;
    });
    expect(found).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('1 cannot go on, because their tasks fail again and again: broken'),
    });
  });
});

describe('reseller deployment', () => {
  it('shows versions with their state and runs, and changes where new work goes', async () => {
    const site = await openSite();
    expect(await site.command(showDeployment, {})).toMatch(
      /^No worker of the deployment "[\w-]+" has connected to Temporal yet\.\n$/,
    );
    await expect(site.command(setCurrent, 'a', {})).rejects.toMatchObject({ name: 'UserError' });
    await site.start('a');
    await site.start('b');
    // Without a name of the version: that of the environment.
    await waitFor(
      'a is current',
      async () => (await site.command(setCurrent, undefined, {})) === 'New work goes to a.\n',
    );
    await site.begin(pinnedWorkflow, 'pinned');
    await site.begin(upgradingWorkflow, 'upgrading');
    await waitFor('b is ramping', async () => (await site.command(setRamping, 'b', 10, {})) !== '');
    await waitFor('the runs are counted', async () => {
      const versions = await site.versions();
      expect(new Set(versions)).toEqual(
        new Set([
          { build_id: 'a', status: 'current', percentage: null, pinned_runs: 1, runs: 2 },
          { build_id: 'b', status: 'ramping', percentage: 10, pinned_runs: 0, runs: 0 },
        ]),
      );
      return true;
    });
    await site.command(setRamping, 'b', 0, {});
    await waitFor('none is ramping', async () => (await site.versions()).every(({ status }) => status !== 'ramping'));
    // It has workers.
    await expect(site.command(deleteVersion, 'b', {})).rejects.toMatchObject({
      name: 'UserError',
      advice: expect.stringContaining('stopped for five minutes'),
    });
    await expect(setCurrent('a', {}, { ...site.environment, WORKER_DEPLOYMENT_NAME: '' })).rejects.toMatchObject({
      name: 'ConfigurationError',
    });
  });
});
