import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import {
  operatorActedSignal,
  orderWorkflowId,
  serviceObservedSignal,
  TASK_QUEUE,
  WORKFLOW_TYPES,
  type OrderWorkflowInput,
  type OrderWorkflowResult,
  type ServiceObservation,
} from '#workflows/messages.ts';
import { orderSearchAttributes, type OrderSearchFacts } from '#workflows/search-attributes.ts';

/** What an order's workflow is started with. Nothing personal: part of it is shown and indexed in plain text. */
export interface OrderStart extends OrderSearchFacts {
  /** `ord_…` */
  readonly orderId: string;
  readonly policy: OrderWorkflowInput['policy'];
}

export interface StartOptions {
  /** Asks for the first task to be run by this very process; its client must share the worker's `NativeConnection`. */
  readonly eager?: boolean;
}

/** Any but an error means that the order is in good hands. */
export type StartOutcome =
  /** By this call. */
  | 'started'
  /** It runs already. */
  | 'running'
  /** It ran and ended well. One that was terminated, failed or timed out is started again instead. */
  | 'finished';

type OrderWorkflow = (input: OrderWorkflowInput) => Promise<OrderWorkflowResult>;

/** A workflow can end between our start and our look at it; twice in a row is no coincidence any more. */
const TRIES = 3;

/** Starts the workflow of an order unless it runs or has ended well. May be called any number of times. */
export async function startOrderWorkflow(
  client: Client,
  start: OrderStart,
  options: StartOptions = {},
): Promise<StartOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.workflow.start<OrderWorkflow>(WORKFLOW_TYPES.order, {
        ...startOptions(start),
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
        ...(options.eager === true ? { requestEagerStart: true } : {}),
      });
      return 'started';
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const outcome = await outcomeOfExisting(client, start.orderId);
      if (outcome !== undefined) return outcome;
      if (attempt === TRIES) throw error;
    }
  }
}

/**
 * Tells an order's workflow what the service said, starting it where none runs.
 *
 * @returns `finished` when it has ended well and nothing was told: the caller then judges against the row.
 */
export async function signalOrder(
  client: Client,
  start: OrderStart,
  observation: ServiceObservation,
): Promise<'told' | 'finished'> {
  return signalWithStart(client, start, serviceObservedSignal.name, [observation]);
}

/** Lets an order's workflow see what a person did with the order in PostgreSQL, starting it where none runs. */
export async function wakeOrder(client: Client, start: OrderStart): Promise<'told' | 'finished'> {
  return signalWithStart(client, start, operatorActedSignal.name, []);
}

async function signalWithStart(
  client: Client,
  start: OrderStart,
  signal: string,
  signalArgs: unknown[],
): Promise<'told' | 'finished'> {
  try {
    await client.workflow.signalWithStart<OrderWorkflow, unknown[]>(WORKFLOW_TYPES.order, {
      ...startOptions(start),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      signal,
      signalArgs,
    });
    return 'told';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'finished';
    throw error;
  }
}

function startOptions(start: OrderStart): WorkflowStartOptions<OrderWorkflow> {
  const { orderId, policy, packageId, externalOrderId, environment } = start;
  return {
    workflowId: orderWorkflowId(orderId),
    taskQueue: TASK_QUEUE,
    args: [{ orderId, policy }],
    // A business failure completes the workflow, so only Terminate or a bug makes a second run possible.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    typedSearchAttributes: orderSearchAttributes(start),
    staticSummary: `Package ${packageId} for ${asCode(externalOrderId)} (${environment})`,
    staticDetails: [
      'Buys one eSIM package from the service and delivers the eSIM.',
      '',
      `- Order: ${asCode(orderId)}`,
      `- Reference of the caller: ${asCode(externalOrderId)}`,
      `- Package: ${packageId}`,
      `- Environment: ${environment}`,
      '',
      'Terminate and Reset are safe: the order goes on from what PostgreSQL knows of it.',
    ].join('\n'),
  };
}

/** A caller's text inside Markdown: shown as it is, whatever characters it holds. */
function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** @returns undefined when a new start should be tried. */
async function outcomeOfExisting(client: Client, orderId: string): Promise<StartOutcome | undefined> {
  try {
    const { status } = await client.workflow.getHandle(orderWorkflowId(orderId)).describe();
    if (status.name === 'RUNNING') return 'running';
    return status.name === 'COMPLETED' ? 'finished' : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
