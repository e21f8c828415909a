/** Workers of several versions on one stack. */
import proto from '@temporalio/proto';
import type { DeploymentVersion } from '#config/config.ts';
import { connect } from '#temporal/connection.ts';
import { nameOf, WorkerDeployment, type ListedVersion } from '#temporal/worker-versions.ts';
import type { TestProcess } from '#test/support/servers/processes.ts';
import type { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { startWorker } from '#test/support/servers/worker-process.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { isSettled, readWork } from '#test/support/work/books/both-sides.ts';

const DEPLOYMENT = 'shop';
const FailedCause = proto.temporal.api.enums.v1.WorkflowTaskFailedCause;

/** The condition of visibility that the last task of a run was carried out by this version. */
function ranOn(buildId: string): string {
  const version: DeploymentVersion = { deploymentName: DEPLOYMENT, buildId };
  return `TemporalWorkerDeploymentVersion = '${nameOf(version)}'`;
}

/** A worker deployment with workers of several versions, and an operator who routes work to them. */
export class WorkerFleet implements AsyncDisposable {
  readonly #stack: Stack;
  readonly #operator: TemporalOperator;
  readonly #running: TestProcess[] = [];

  constructor(stack: Stack, operator: TemporalOperator) {
    this.#stack = stack;
    this.#operator = operator;
  }

  /** Starts a worker of a version, and waits until it is ready. @param bundle file with its workflows. */
  async start(buildId: string, bundle?: string): Promise<TestProcess> {
    const worker = await startWorker(this.#stack, `worker ${buildId}`, {
      WORKER_DEPLOYMENT_NAME: DEPLOYMENT,
      WORKER_BUILD_ID: buildId,
      ...(bundle !== undefined && { WORKFLOW_BUNDLE: bundle }),
    });
    this.#running.push(worker);
    return worker;
  }

  /** Sends new work to a version. Temporal refuses it until the version's workers have polled every task queue. */
  async setCurrent(buildId: string | undefined): Promise<void> {
    const set = (deployment: WorkerDeployment) => deployment.setCurrent(buildId).then(() => true);
    await waitFor(`${buildId} is current`, () => this.#change(set));
  }

  async setRamping(buildId: string, percentage: number): Promise<void> {
    const set = (deployment: WorkerDeployment) => deployment.setRamping(buildId, percentage).then(() => true);
    await waitFor(`${buildId} is ramping`, () => this.#change(set));
  }

  async versions(): Promise<ListedVersion[]> {
    return this.#change((deployment) => deployment.versions());
  }

  /**
   * Terminates the orders that are pinned to a version, and waits until the sweeper has started again those that had
   * not ended. Workers of the version must still run: a new run asks the old one what it knew.
   */
  async moveOrders(buildId: string): Promise<void> {
    const { workflow } = this.#operator.client;
    const query =
      "WorkflowType = 'orderWorkflow' AND ExecutionStatus = 'Running' AND " +
      `TemporalWorkflowVersioningBehavior = 'Pinned' AND ${ranOn(buildId)}`;
    const moved = new Set<string>();
    await waitFor(`no order is pinned to ${buildId}`, async () => {
      const pinned: string[] = [];
      for await (const { workflowId } of workflow.list({ query })) pinned.push(workflowId);
      // Visibility is a moment behind: the order may have ended.
      for (const id of pinned)
        await workflow
          .getHandle(id)
          .terminate('moved')
          .catch(() => undefined);
      pinned.forEach((id) => moved.add(id));
      return pinned.length === 0;
    });
    for (const id of moved)
      await waitFor(`${id} has ended or has a new run`, async () => {
        const { status } = await workflow.getHandle(id).describe();
        return status.name !== 'TERMINATED' || (await this.#hasEnded(id));
      });
  }

  /** True when the row of an order says so: its run may have been terminated before it could end. */
  async #hasEnded(workflowId: string): Promise<boolean> {
    const rows = await this.#stack.database.run(readWork);
    return rows.some(({ id, status }) => workflowId === `order/${id}` && isSettled(status));
  }

  /**
   * The version that carried out the last task of a running or ended workflow. The row of work may be ahead: the first
   * task is completed after the first send. @param id of work.
   */
  async buildOf(id: string): Promise<string> {
    return waitFor(`${id} has completed a workflow task`, async () => {
      const { builds } = await ranIn(this.#operator.order(id).fetchHistory());
      return builds.at(-1);
    });
  }

  /** All workflows of the namespace, with their versions. */
  async ran() {
    const all: Awaited<ReturnType<typeof ranIn>>[] = [];
    const { workflow } = this.#operator.client;
    for await (const { workflowId, runId } of workflow.list())
      all.push(await ranIn(workflow.getHandle(workflowId, runId).fetchHistory()));
    return all;
  }

  /** How many runs of a type a version has begun. */
  async countOf(workflowType: string, buildId: string): Promise<number> {
    const query = `WorkflowType = '${workflowType}' AND ${ranOn(buildId)}`;
    return (await this.#operator.client.workflow.count(query)).count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#running) await worker[Symbol.asyncDispose]();
  }

  async #change<Result>(change: (deployment: WorkerDeployment) => Promise<Result>): Promise<Result> {
    const { temporal } = this.#stack;
    const connection = await connect(temporal);
    try {
      const { namespace } = temporal;
      return await change(
        new WorkerDeployment({ connection, namespace, deploymentName: DEPLOYMENT, identity: 'test' }),
      );
    } finally {
      await connection.close();
    }
  }
}

/** What the history of a workflow shows of versions. */
async function ranIn(reading: ReturnType<ReturnType<TemporalOperator['order']>['fetchHistory']>) {
  const events = (await reading).events ?? [];
  return {
    workflowType: events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '',
    /** The version of each workflow task, in order; `-`: none. */
    builds: events.flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
      task == null ? [] : [task.deploymentVersion?.buildId ?? '-'],
    ),
    /** Causes. Without those of a task whose end was refused because a signal had arrived: it is carried out again. */
    failedTasks: events
      .flatMap(({ workflowTaskFailedEventAttributes: failed }) => (failed == null ? [] : [failed.cause ?? 0]))
      .map((cause) => FailedCause[cause] ?? String(cause))
      .filter((cause) => cause !== 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND'),
  };
}
