/** Which version of the workers gets which work, and the commands that change it. */
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { DefaultLogger, type NativeConnection, bundleWorkflowCode } from '@temporalio/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkWorkflowTasks } from '#cli/doctor/checks/temporal.ts';
import { deleteVersion, setCurrent, setRamping, showDeployment } from '#cli/set-up/deployment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import { connectNative, createClient } from '#temporal/connection.ts';
import type { ListedVersion } from '#temporal/worker-versions.ts';
import { pinnedWorkflow, upgradingWorkflow, workSignal } from '#test/integration/temporal/versioned-workflows.ts';
import { captured } from '#test/support/cli-output.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { createWorkers } from '#worker/workers.ts';
import { TASK_QUEUE } from '#workflows/messages.ts';

quietRuntime();

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const workflowsPath = fileURLToPath(new URL('versioned-workflows.ts', import.meta.url));
const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });

type Runs = typeof pinnedWorkflow;

/** A namespace with workers of several versions, and what they have done. */
class Site {
  readonly client: Client;
  readonly #temporal: Parameters<typeof createClient>[1];
  /** `workflow version` of each activity, in order. */
  readonly #done: string[] = [];

  private constructor(temporal: Parameters<typeof createClient>[1], connection: NativeConnection) {
    this.#temporal = temporal;
    this.client = createClient(connection, temporal, keyRing);
  }

  static async open(): Promise<Site> {
    const temporal = temporalConfig(await createNamespace());
    const connection = await connectNative(temporal);
    onTestFinished(() => connection.close());
    return new Site(temporal, connection);
  }

  /** The environment of our commands. @param build of WORKER_BUILD_ID. */
  environment(build = 'a'): Record<string, string> {
    const { address: TEMPORAL_ADDRESS, namespace: TEMPORAL_NAMESPACE } = this.#temporal;
    return { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, WORKER_DEPLOYMENT_NAME: 'shop', WORKER_BUILD_ID: build };
  }

  /** Starts the workers of one process. @param buildId undefined: without a version. */
  async start(buildId: string | undefined): Promise<void> {
    const connection = await connectNative(this.#temporal);
    const note = async (workflow: string) => void this.#done.push(`${workflow} ${buildId ?? '-'}`);
    const workers = await createWorkers({
      connection,
      workflowBundle: { code },
      activities: { note },
      webhookActivities: { note },
      dataConverter: createWorkerDataConverter(keyRing),
      config: {
        temporal: this.#temporal,
        shutdownGraceMs: 1_000,
        purchasesPerSecond: undefined,
        readsPerSecond: undefined,
        deployment: buildId === undefined ? undefined : { deploymentName: 'shop', buildId },
        tracing: undefined,
      },
    });
    const ends = workers.map((worker) => worker.run());
    onTestFinished(async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(ends);
      await connection.close();
    });
  }

  /** Runs `begin`, which lets the workflow do an activity. @returns the version that did it. */
  async versionAfter(workflow: string, begin: () => Promise<unknown>): Promise<string> {
    const before = this.#done.length;
    await begin();
    const found = await waitFor(`${workflow} does an activity`, () =>
      this.#done.slice(before).find((each) => each.startsWith(`${workflow} `)),
    );
    return found.slice(workflow.length + 1);
  }

  begin(workflow: Runs, id: string): Promise<string> {
    const options = { workflowId: id, taskQueue: TASK_QUEUE, args: [id] as [string] };
    return this.versionAfter(id, () => this.client.workflow.start(workflow, options));
  }

  wake(id: string): Promise<string> {
    return this.versionAfter(id, () => this.client.workflow.getHandle(id).signal(workSignal));
  }

  /**
   * Wakes a workflow until this version takes it over. The queue of a worker that has the run in its cache learns a
   * change of the routing later than the command ends, and later than the queue of the activities.
   */
  async takenOver(id: string, version: string): Promise<void> {
    const isTakenOver = async () => (await this.wake(id)) === version && (await this.versionOf(id)) === version;
    await waitFor(`${version} takes ${id} over`, isTakenOver);
  }

  /** The version that has completed the last workflow task of a run; `-`: a worker without one. */
  async versionOf(id: string): Promise<string> {
    const { raw } = await this.client.workflow.getHandle(id).describe();
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId || '-';
  }

  async setCurrent(build: string): Promise<void> {
    await waitFor(`${build} is current`, async () => (await this.command(setCurrent, build, {})) !== '');
  }

  /** What a command prints. */
  async command<Args extends unknown[]>(
    run: (...given: [...Args, Record<string, string>, { write(text: string): boolean }]) => Promise<void>,
    ...args: Args
  ): Promise<string> {
    const output = captured();
    await run(...args, this.environment(), output);
    return output.text();
  }

  async versions(): Promise<ListedVersion[]> {
    return JSON.parse(await this.command(showDeployment, { json: true })) as ListedVersion[];
  }
}

describe('workers with versions', () => {
  it('take over the runs of workers without a version, and give them back', async () => {
    const site = await Site.open();
    await site.start(undefined);
    // Without a version no behaviour is named, which the server would refuse.
    expect(await site.begin(upgradingWorkflow, 'upgrading')).toBe('-');
    expect(await site.begin(pinnedWorkflow, 'pinned')).toBe('-');
    await site.start('a');
    await site.setCurrent('a');
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
    const site = await Site.open();
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
    const site = await Site.open();
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
    await expect(setCurrent('a', {}, { ...site.environment(), WORKER_DEPLOYMENT_NAME: '' })).rejects.toMatchObject({
      name: 'ConfigurationError',
    });
  });
});
