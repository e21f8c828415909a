import type { Client, WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { workflowMetadataQuery } from '@temporalio/workflow';
import { onTestFinished } from 'vitest';
import { PARTS, readWorkerConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { isId } from '#domain/work/identifiers.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { connectClient } from '#temporal/connection.ts';
import { ensureSchedules, type Intervals, type ScheduleId } from '#temporal/schedules.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { webhookEndpointWorkflowId, workflowId } from '#workflows/messages.ts';
import type { orderWorkflow } from '#workflows/order.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

export function keyRingOf(stack: Stack): KeyRing {
  return new KeyRing(PARTS.encryptionKeys(stack.environments.worker));
}

/** Interval of upkeep while a test waits for it, in milliseconds. */
const OFTEN_MS = 1_000;

/** An operator who uses the Temporal UI for the workflows of a stack. */
export class TemporalOperator implements AsyncDisposable {
  readonly client: Client;
  readonly #stack: Stack;

  private constructor(client: Client, stack: Stack) {
    this.client = client;
    this.#stack = stack;
  }

  static async connect(stack: Stack): Promise<TemporalOperator> {
    return new TemporalOperator(await connectClient(stack.temporal, keyRingOf(stack)), stack);
  }

  /** The newest run of a workflow. @param id the id of work or of a webhook endpoint. */
  order(id: string): WorkflowHandle<typeof orderWorkflow> {
    if (isId('webhookEndpoint', id)) return this.client.workflow.getHandle(webhookEndpointWorkflowId(id));
    return this.client.workflow.getHandle(
      workflowId({ kind: WORK_KINDS.find((kind) => isId(kind, id)) ?? 'order', id }),
    );
  }

  async terminate(orderId: string): Promise<void> {
    await this.order(orderId).terminate('terminated by a test');
  }

  /** Resets a workflow to the end of its first task, like Reset in the UI. @returns the id of the new run. */
  async resetToFirstTask(orderId: string): Promise<string> {
    const { runId } = await this.order(orderId).describe();
    // The row may be ahead: the first task is completed after the first send.
    const firstTask = await waitFor('the workflow has completed a task', async () => {
      const { events } = await this.order(orderId).fetchHistory();
      return events?.find(({ workflowTaskCompletedEventAttributes: completed }) => completed != null)?.eventId;
    });
    const answer = await this.client.workflowService.resetWorkflowExecution({
      namespace: this.#stack.temporal.namespace,
      workflowExecution: { workflowId: workflowId({ kind: 'order', id: orderId }), runId },
      reason: 'reset by a test',
      workflowTaskFinishEventId: firstTask,
      requestId: `${runId}-reset`,
    });
    return answer.runId;
  }

  /** Waits until the newest run of an order's workflow has this status. */
  async runReaches(orderId: string, status: 'RUNNING' | 'COMPLETED' | 'TERMINATED'): Promise<string> {
    return waitFor(`the workflow of ${orderId} is ${status}`, async () => {
      const run = await this.order(orderId).describe();
      if (run.status.name !== status) throw new Error(`it is ${run.status.name}`);
      return run.runId;
    });
  }

  /** Search attributes and current details of the newest run, as in the Temporal UI. @param id the id of work. */
  async shown(id: string) {
    const handle = this.order(id);
    // The query waits for the first task, which is completed after the first send.
    const { currentDetails } = await handle.query(workflowMetadataQuery);
    const { typedSearchAttributes: found } = await handle.describe();
    return {
      product: found.get(SEARCH_ATTRIBUTES.product),
      stage: found.get(SEARCH_ATTRIBUTES.stage),
      needsAttention: found.get(SEARCH_ATTRIBUTES.needsAttention),
      attentionReason: found.get(SEARCH_ATTRIBUTES.attentionReason),
      failureClass: found.get(SEARCH_ATTRIBUTES.failureClass),
      /** Markdown. */
      details: currentDetails ?? '',
    };
  }

  /** Waits until the newest run shows this stage. @returns its search attributes and current details. */
  async showsStage(id: string, stage: WorkStatus) {
    return waitFor(`the workflow of ${id} shows ${stage}`, async () => {
      const shown = await this.shown(id);
      if (shown.stage !== stage) throw new Error(`it shows ${shown.stage}`);
      return shown;
    });
  }

  /** All data of the server about the runs of a workflow, as bytes: histories and descriptions. */
  async rawTraces(workId: string): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    const { api } = proto.temporal;
    const id = this.order(workId).workflowId;
    const { namespace } = this.#stack.temporal;
    for await (const { runId } of this.client.workflow.list({ query: `WorkflowId = '${id}'` })) {
      const execution = { workflowId: id, runId };
      const { history } = await this.client.workflowService.getWorkflowExecutionHistory({ namespace, execution });
      parts.push(api.history.v1.History.encode(history ?? {}).finish());
      const described = await this.client.workflowService.describeWorkflowExecution({ namespace, execution });
      parts.push(api.workflowservice.v1.DescribeWorkflowExecutionResponse.encode(described).finish());
    }
    return Buffer.concat(parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.connection.close();
  }
}

/** Starts a comparison of the books with the wallet, and waits for it. @returns the id of the report. */
export async function reconcileBooks(stack: Stack): Promise<string> {
  const newest = async () => (await stack.api.get('/v1/wallet/reconciliations?limit=1')).at('data', 0, 'id');
  const before = await newest();
  await using operator = await TemporalOperator.connect(stack);
  await operator.client.schedule.getHandle('books' satisfies ScheduleId).trigger();
  return await waitFor('the books are compared', async () => {
    const id = await newest();
    return typeof id === 'string' && id !== before ? id : undefined;
  });
}

/** Waits until a schedule has started its workflow `times` more times. */
export async function runsAgain({ client }: TemporalOperator, schedule: ScheduleId, times: number): Promise<void> {
  const handle = client.schedule.getHandle(schedule);
  const started = async () => (await handle.describe()).info.numActionsTaken;
  const before = await started();
  await waitFor(`${schedule} has run ${times} times more`, async () => (await started()) >= before + times);
}

/** Runs the sweeper and the reconciler of a stack with `RARE_UPKEEP` every second until the test ends. */
export async function frequentUpkeep(stack: Stack): Promise<void> {
  const { policy } = readWorkerConfig(stack.environments.worker);
  const set = async (intervals: Intervals) => {
    await using operator = await TemporalOperator.connect(stack);
    await ensureSchedules(operator.client, intervals);
  };
  onTestFinished(() => set(policy));
  await set({ ...policy, sweep: { everyMs: OFTEN_MS }, reconcile: { everyMs: OFTEN_MS } });
}
