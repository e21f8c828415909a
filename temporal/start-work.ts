import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { WORK_NOUNS, type WorkKind, type WorkRef } from '#domain/work.ts';
import {
  operatorActedSignal,
  serviceObservedSignal,
  TASK_QUEUE,
  WORK_WORKFLOWS,
  workflowId,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
  type ServiceObservation,
} from '#workflows/messages.ts';
import { startSearchAttributes, type SearchFacts } from '#workflows/search-attributes.ts';

/** What a workflow is started with. Nothing personal: part of it is shown and indexed in plain text. */
export interface WorkStart extends SearchFacts {
  readonly id: string;
  readonly vpnPlanId?: number;
  readonly policy: PurchaseWorkflowInput['policy'];
}

const WHAT_IT_DOES = {
  order: 'Buys one eSIM package from the service and delivers the eSIM.',
  topup: 'Recharges one eSIM with a data package.',
  vpn_subscription: 'Buys a VPN subscription and follows it until it is cancelled or expires.',
  cancellation: 'Cancels one eSIM and follows its refund until the money is back in the wallet.',
} as const satisfies Record<WorkKind, string>;

export interface StartOptions {
  /** Asks for the first task to be run by this very process; its client must share the worker's `NativeConnection`. */
  readonly eager?: boolean;
}

/** Any but an error means that the work is in good hands. */
export type StartOutcome =
  /** By this call. */
  | 'started'
  /** It runs already. */
  | 'running'
  /** It ran and ended well. One that was terminated, failed or timed out is started again instead. */
  | 'finished';

type PurchaseWorkflow = (input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>;

/** A workflow can end between our start and our look at it; twice in a row is no coincidence any more. */
const TRIES = 3;

/** Starts the workflow of a piece of work unless it runs or has ended well. May be called any number of times. */
export async function startWork(
  client: Client,
  start: WorkStart,
  options: StartOptions = {},
): Promise<StartOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.workflow.start<PurchaseWorkflow>(WORK_WORKFLOWS[start.kind], {
        ...startOptions(start),
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
        ...(options.eager === true ? { requestEagerStart: true } : {}),
      });
      return 'started';
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const outcome = await outcomeOfExisting(client, start);
      if (outcome !== undefined) return outcome;
      if (attempt === TRIES) throw error;
    }
  }
}

/**
 * Tells a workflow what the service said, starting it where none runs.
 *
 * @returns `finished` when it has ended well and nothing was told: the caller then judges against the row.
 */
export async function tellWork(
  client: Client,
  start: WorkStart,
  observation: ServiceObservation,
): Promise<'told' | 'finished'> {
  return signalWithStart(client, start, serviceObservedSignal.name, [observation]);
}

/** Lets a workflow see what a person did in PostgreSQL, starting it where none runs. */
export async function wakeWork(client: Client, start: WorkStart): Promise<'told' | 'finished'> {
  return signalWithStart(client, start, operatorActedSignal.name, []);
}

async function signalWithStart(
  client: Client,
  start: WorkStart,
  signal: string,
  signalArgs: unknown[],
): Promise<'told' | 'finished'> {
  try {
    await client.workflow.signalWithStart<PurchaseWorkflow, unknown[]>(WORK_WORKFLOWS[start.kind], {
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

function startOptions(start: WorkStart): WorkflowStartOptions<PurchaseWorkflow> {
  const { kind, id, policy, packageId, vpnPlanId, externalReference, environment } = start;
  const item = packageId === undefined ? `VPN plan ${vpnPlanId}` : `Package ${packageId}`;
  return {
    workflowId: workflowId(start),
    taskQueue: TASK_QUEUE,
    args: [{ work: { kind, id }, policy }],
    // A business failure completes the workflow, so only Terminate or a bug makes a second run possible.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    typedSearchAttributes: startSearchAttributes(start),
    staticSummary: `${item} for ${asCode(externalReference)} (${environment})`,
    staticDetails: [
      WHAT_IT_DOES[kind],
      '',
      `- Id of the ${WORK_NOUNS[kind]}: ${asCode(id)}`,
      `- Reference of the caller: ${asCode(externalReference)}`,
      `- ${item}`,
      `- Environment: ${environment}`,
      '',
      `Terminate and Reset are safe: the ${WORK_NOUNS[kind]} goes on from what PostgreSQL knows of it.`,
    ].join('\n'),
  };
}

/** A caller's text inside Markdown: shown as it is, whatever characters it holds. */
function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** @returns undefined when a new start should be tried. */
async function outcomeOfExisting(client: Client, work: WorkRef): Promise<StartOutcome | undefined> {
  try {
    const { status } = await client.workflow.getHandle(workflowId(work)).describe();
    if (status.name === 'RUNNING') return 'running';
    return status.name === 'COMPLETED' ? 'finished' : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
