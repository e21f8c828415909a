import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { witnessOfEnd, type Witness } from '#domain/purchase/recovery.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { startDecision, type WorkflowRunState } from '#domain/relay/relay-decision.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isPassing, isUnanswered } from '#temporal/connection.ts';
import {
  deliveriesWaitSignal,
  memoryQuery,
  operatorActedSignal,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
  type Remembered,
  serviceObservedSignal,
  TASK_QUEUE,
  WEBHOOK_ENDPOINT_WORKFLOW,
  type WebhookEndpointInput,
  type WebhookEndpointResult,
  webhookEndpointWorkflowId,
  WORK_WORKFLOWS,
  workflowId,
} from '#workflows/messages.ts';
import {
  SEARCH_ATTRIBUTES,
  type StartAttributes,
  startSearchAttributes,
  WEBHOOK_PRODUCT,
  WEBHOOK_STAGES,
} from '#workflows/search-attributes.ts';

/** No personal data: parts of it are indexed as plain text. */
export interface WorkStart extends StartAttributes {
  readonly id: string;
  readonly vpnPlanId?: number;
  readonly policy: PurchaseWorkflowInput['policy'];
}

export interface StartOptions {
  /** Its client must share the worker's `NativeConnection`. */
  readonly eager?: boolean;
  /** Called only when the workflow has completed: an unfinished row has lost its end, and a new run is started. */
  readonly isEnded: () => Promise<boolean>;
}

/** `finished`: its row has ended, too. One that was terminated, failed or timed out is started again. */
export type StartOutcome = 'started' | 'running' | 'finished';

type PurchaseWorkflow = (input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>;

/** A workflow may end between our start and our read of its state. */
const TRIES = 3;

/** Starts nothing while the workflow runs or when it has completed. Idempotent. */
export async function startWork(client: Client, start: WorkStart, options: StartOptions): Promise<StartOutcome> {
  const begin = async (again: Again | undefined) => {
    await client.workflow.start<PurchaseWorkflow>(WORK_WORKFLOWS[start.kind], {
      ...startOptions(start, again),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      ...(options.eager === true ? { requestEagerStart: true } : {}),
    });
    return 'started' as const;
  };
  return startAgainIfNeeded(client, start, options, begin);
}

/** Starts it if none is running. @returns `finished` when it has completed: the caller then judges by the row. */
export async function signalReport(
  client: Client,
  start: WorkStart,
  observation: ServiceObservation,
  options: Pick<StartOptions, 'isEnded'>,
): Promise<'notified' | 'finished'> {
  return signalWithStart(client, start, { signal: serviceObservedSignal.name, signalArgs: [observation] }, options);
}

/** Tells the workflow of an operator action in PostgreSQL. Starts it if none is running. */
export async function wakeWork(
  client: Client,
  start: WorkStart,
  options: Pick<StartOptions, 'isEnded'>,
): Promise<'notified' | 'finished'> {
  return signalWithStart(client, start, { signal: operatorActedSignal.name, signalArgs: [] }, options);
}

async function signalWithStart(
  client: Client,
  start: WorkStart,
  signal: { readonly signal: string; readonly signalArgs: unknown[] },
  options: Pick<StartOptions, 'isEnded'>,
): Promise<'notified' | 'finished'> {
  const notify = async (again: Again | undefined) => {
    await client.workflow.signalWithStart<PurchaseWorkflow, unknown[]>(WORK_WORKFLOWS[start.kind], {
      ...startOptions(start, again),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      ...signal,
    });
    return 'notified' as const;
  };
  const outcome = await startAgainIfNeeded(client, start, options, notify);
  // It was started after the signal was refused.
  if (outcome === 'running') return signalWithStart(client, start, signal, options);
  return outcome;
}

interface Again {
  readonly remembered: Remembered;
  /** The run has completed, and the database has lost the end of its row. */
  readonly isAfterEnd: boolean;
}

/** Temporal refuses the start because of an earlier run. */
async function startAgainIfNeeded<Begun extends string>(
  client: Client,
  work: WorkRef,
  { isEnded }: Pick<StartOptions, 'isEnded'>,
  begin: (again: Again | undefined) => Promise<Begun>,
): Promise<Begun | 'running' | 'finished'> {
  let again: Again | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await begin(again);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || attempt === TRIES) throw error;
    }
    const { state, runId } = await newestRun(client, work);
    // After the workflow: a workflow ends its row before it completes.
    const decision = startDecision(state, state === 'completed' && (await isEnded()));
    if (decision === 'leave') return state === 'running' ? 'running' : 'finished';
    if (decision === 'start_anew')
      again = { remembered: { witness: await witnessOf(client, work, runId) }, isAfterEnd: true };
    else
      again =
        state === 'unclean' ? { remembered: await rememberedBy(client, work, runId), isAfterEnd: false } : undefined;
  }
}

function startOptions(start: WorkStart, again: Again | undefined): WorkflowStartOptions<PurchaseWorkflow> {
  const { kind, id, policy, packageId, vpnPlanId, externalReference, environment } = start;
  const { noun, summary, path, command } = KINDS[kind];
  const item = packageId === undefined ? `VPN plan ${vpnPlanId}` : `Package ${packageId}`;
  return {
    workflowId: workflowId(start),
    taskQueue: TASK_QUEUE,
    args: [{ work: { kind, id }, policy, ...(again !== undefined && { carried: { holds: 0, ...again.remembered } }) }],
    // A second run gets what the earlier run knew.
    workflowIdReusePolicy: reusePolicy(again),
    typedSearchAttributes: startSearchAttributes(start),
    staticSummary: `${item} for ${asCode(externalReference)} (${environment})`,
    staticDetails: [
      summary,
      '',
      `- Id of the ${noun}: ${asCode(id)}`,
      `- Reference of the caller: ${asCode(externalReference)}`,
      `- ${item}`,
      `- Environment: ${environment}`,
      `- Customer, prices and timeline: \`npx reseller ${command} show ${id}\`, \`GET ${path}/${id}\``,
      '',
      `Terminate and Reset are safe: the ${noun} continues from its state in PostgreSQL.`,
    ].join('\n'),
  };
}

/** A run that another process started may have completed: none may follow it with older knowledge. */
function reusePolicy(again: Again | undefined): WorkflowIdReusePolicy {
  if (again === undefined) return WorkflowIdReusePolicy.REJECT_DUPLICATE;
  return again.isAfterEnd ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY;
}

/** Markdown code, so that no character is interpreted. */
function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

async function newestRun(
  client: Client,
  work: WorkRef,
): Promise<{ readonly state: WorkflowRunState; readonly runId?: string }> {
  try {
    const { status, runId } = await client.workflow.getHandle(workflowId(work)).describe();
    if (status.name === 'RUNNING') return { state: 'running', runId };
    return { state: status.name === 'COMPLETED' ? 'completed' : 'unclean', runId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'none' };
    throw error;
  }
}

async function witnessOf(client: Client, work: WorkRef, runId: string | undefined): Promise<Witness> {
  const { witness, ...end } = await client.workflow.getHandle<PurchaseWorkflow>(workflowId(work), runId).result();
  return witnessOfEnd(end, witness);
}

/** Limits a query, which needs a worker that replays the run. */
const QUERY_DEADLINE_MS = 5_000;

/**
 * What a run that was terminated or has failed knew. Empty when it cannot be queried: it never ran a task, or its
 * history cannot be replayed.
 * @throws Error when it cannot be queried now. A new run must not begin then: it could send again what the old one has
 *   sent.
 */
async function rememberedBy(client: Client, work: WorkRef, runId: string | undefined): Promise<Remembered> {
  try {
    return await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId(work), runId).query(memoryQuery),
    );
  } catch (error) {
    if (isPassing(error) || isUnanswered(error)) throw error;
    return {};
  }
}

/** Limits a call; without an answer the sweeper continues. */
const CALL_DEADLINE_MS = 5_000;

/** Visibility is eventually consistent: just started work may be missing. @throws ServiceError */
export async function findRunning(client: Client, work: readonly WorkRef[]): Promise<ReadonlySet<string>> {
  if (work.length === 0) return new Set();
  const byWorkflow = new Map(work.map((each) => [workflowId(each), each.id]));
  const names = [...byWorkflow.keys()].map((name) => `'${name.replaceAll("'", "''")}'`).join(',');
  const request = {
    namespace: client.options.namespace,
    pageSize: work.length,
    query: `ExecutionStatus = 'Running' AND WorkflowId IN (${names})`,
  };
  const { executions } = await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
    client.connection.workflowService.listWorkflowExecutions(request),
  );
  const found = (executions ?? []).flatMap(({ execution }) => byWorkflow.get(execution?.workflowId ?? '') ?? []);
  return new Set(found);
}

type EndpointWorkflow = (input: WebhookEndpointInput) => Promise<WebhookEndpointResult>;

/** Starts the workflow if none is running. Idempotent. */
export async function wakeEndpoint(
  client: Client,
  endpointId: string,
  wake: { readonly urgent: boolean },
): Promise<void> {
  await client.workflow.signalWithStart<EndpointWorkflow, [typeof wake]>(WEBHOOK_ENDPOINT_WORKFLOW, {
    workflowId: webhookEndpointWorkflowId(endpointId),
    taskQueue: TASK_QUEUE,
    args: [{ endpointId }],
    signal: deliveriesWaitSignal,
    signalArgs: [wake],
    // Each run ends when no delivery waits.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.product, value: WEBHOOK_PRODUCT },
      { key: SEARCH_ATTRIBUTES.stage, value: WEBHOOK_STAGES.delivering },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
    ],
    staticSummary: `Deliveries to ${endpointId}`,
    staticDetails: [
      'Delivers events to one webhook endpoint of an internal system until none waits.',
      '',
      `- Endpoint: \`${endpointId}\``,
      '',
      'Terminate and Reset are safe: the waiting deliveries are in PostgreSQL, and a new run is started for them.',
    ].join('\n'),
  });
}
