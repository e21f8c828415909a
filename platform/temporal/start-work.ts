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
import type { ServiceMode } from '#domain/service/service-address.ts';
import { KINDS, type WorkRef, type WorkStart } from '#domain/work/kinds.ts';
import { isTemporary, isUnanswered } from '#temporal/connection.ts';
import {
  deliveriesWaitSignal,
  knownAtStart,
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
  startSearchAttributes,
  WEBHOOK_PRODUCT,
  WEBHOOK_STAGES,
} from '#workflows/search-attributes.ts';

export interface Starter {
  readonly client: Client;
  readonly policy: PurchaseWorkflowInput['policy'];
  readonly environment: ServiceMode;
  /**
   * Whether the first task may go to the worker that shares the client's connection. False while a version is current:
   * an eager start does not ask which one is.
   */
  readonly mayBeEager: () => boolean;
  /** Called only when the workflow has completed: an unfinished row has lost its end, and a new run is started. */
  readonly isEnded: (work: WorkRef) => Promise<boolean>;
}

/** `finished`: its row has ended, too. One that was terminated, failed or timed out is started again. */
export type StartOutcome = 'started' | 'running' | 'finished';

type PurchaseWorkflow = (input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>;

/** A workflow may end between our start and our read of its state. */
const TRIES = 3;

/** After this time the row of the queue is tried again. */
const CALL_DEADLINE_MS = 10_000;

/** Starts nothing while the workflow runs or when it has completed. Idempotent. */
export function startWork(starter: Starter, start: WorkStart): Promise<StartOutcome> {
  const first = start.unreadIn !== undefined ? { firstSendIn: start.unreadIn } : {};
  return startAgainIfNeeded(starter, start, first, async (options) => {
    await starter.client.workflow.start<PurchaseWorkflow>(WORK_WORKFLOWS[start.kind], {
      ...options,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      ...(starter.mayBeEager() && { requestEagerStart: true }),
    });
    return 'started' as const;
  });
}

/** Starts it if none is running. @returns `finished` when it has completed: the caller then judges by the row. */
export function signalReport(starter: Starter, start: WorkStart, observation: ServiceObservation) {
  return signalWithStart(starter, start, { signal: serviceObservedSignal.name, signalArgs: [observation] });
}

/** Tells the workflow of an operator action in PostgreSQL. Starts it if none is running. */
export function wakeWork(starter: Starter, start: WorkStart) {
  return signalWithStart(starter, start, { signal: operatorActedSignal.name, signalArgs: [] });
}

async function signalWithStart(
  starter: Starter,
  start: WorkStart,
  signal: { readonly signal: string; readonly signalArgs: unknown[] },
): Promise<'notified' | 'finished'> {
  const outcome = await startAgainIfNeeded(starter, start, {}, async (options) => {
    await starter.client.workflow.signalWithStart<PurchaseWorkflow, unknown[]>(WORK_WORKFLOWS[start.kind], {
      ...options,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      ...signal,
    });
    return 'notified' as const;
  });
  // It was started after the signal was refused.
  if (outcome === 'running') return signalWithStart(starter, start, signal);
  return outcome;
}

type StartOptions = WorkflowStartOptions<PurchaseWorkflow>;

/** Temporal refuses the start because of an earlier run. A second run gets what the earlier run knew. */
function startAgainIfNeeded<Begun extends string>(
  { client, policy, environment, isEnded }: Starter,
  start: WorkStart,
  ofFirstRun: Pick<PurchaseWorkflowInput, 'firstSendIn'>,
  begin: (options: StartOptions) => Promise<Begun>,
): Promise<Begun | 'running' | 'finished'> {
  const { kind, id } = start;
  const optionsFor = (workflowIdReusePolicy: WorkflowIdReusePolicy, remembered?: Remembered): StartOptions => {
    const more = remembered === undefined ? ofFirstRun : { carried: { holds: 0, ...remembered } };
    const sendsAtOnce = 'firstSendIn' in more;
    return {
      workflowId: workflowId(start),
      taskQueue: TASK_QUEUE,
      args: [{ work: { kind, id }, policy, ...more }],
      workflowIdReusePolicy,
      typedSearchAttributes: startSearchAttributes({ ...start, environment, sendsAtOnce }),
      ...textsFor(start, environment),
    };
  };
  const first = optionsFor(WorkflowIdReusePolicy.REJECT_DUPLICATE);
  return client.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
    let options = first;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await begin(options);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError) || attempt === TRIES) throw error;
      }
      const { state, runId } = await newestRun(client, start);
      // After the workflow: a workflow ends its row before it completes.
      const decision = startDecision(state, state === 'completed' && (await isEnded({ kind, id })));
      if (decision === 'leave') return state === 'running' ? 'running' : 'finished';
      if (decision === 'start_anew')
        options = optionsFor(WorkflowIdReusePolicy.ALLOW_DUPLICATE, { witness: await witnessOf(client, start, runId) });
      // A run that another process started may have completed: none may follow it with older knowledge.
      else if (state === 'unclean')
        options = optionsFor(
          WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
          await rememberedBy(client, start, runId),
        );
      else options = first;
    }
  });
}

function textsFor({ kind, id, packageId, vpnPlanId, externalReference }: WorkStart, environment: string) {
  const { noun, summary, path, command } = KINDS[kind];
  const item = packageId === undefined ? `VPN plan ${vpnPlanId}` : `Package ${packageId}`;
  return {
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

/** Markdown code, so that no character is interpreted. */
function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

async function newestRun(client: Client, work: WorkRef): Promise<{ state: WorkflowRunState; runId?: string }> {
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
 * What a run that was terminated or has failed knew. When it cannot be queried, because its first task never ended or
 * its history cannot be replayed, what it was started with.
 * @throws Error when it cannot be queried now. A new run must not begin then: it could send again what the old one has
 *   sent.
 */
async function rememberedBy(client: Client, work: WorkRef, runId: string | undefined): Promise<Remembered> {
  try {
    return await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId(work), runId).query(memoryQuery),
    );
  } catch (error) {
    if (isTemporary(error) || isUnanswered(error)) throw error;
    return startedWith(client, work, runId);
  }
}

async function startedWith(client: Client, work: WorkRef, runId: string | undefined): Promise<Remembered> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId: workflowId(work), ...(runId !== undefined && { runId }) },
    maximumPageSize: 1,
  });
  const [first] = history?.events ?? [];
  let payloads = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  for (const codec of loadedDataConverter.payloadCodecs) payloads = await codec.decode(payloads);
  const [payload] = payloads;
  if (payload === undefined) return {};
  const input = loadedDataConverter.payloadConverter.fromPayload<PurchaseWorkflowInput>(payload);
  const { witness, pendingSend } = knownAtStart(input, Number(first?.eventTime?.seconds ?? 0) * 1_000);
  return { witness, pendingSend };
}

/** Without an answer the sweeper continues. */
const LIST_DEADLINE_MS = 5_000;

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
  const { executions } = await client.withDeadline(Date.now() + LIST_DEADLINE_MS, () =>
    client.connection.workflowService.listWorkflowExecutions(request),
  );
  const found = (executions ?? []).flatMap(({ execution }) => byWorkflow.get(execution?.workflowId ?? '') ?? []);
  return new Set(found);
}

type EndpointWorkflow = (input: WebhookEndpointInput) => Promise<WebhookEndpointResult>;

/** Starts the workflow if none is running. Idempotent. */
export async function wakeEndpoint(client: Client, endpointId: string, wake: { readonly urgent: boolean }) {
  await client.withDeadline(Date.now() + CALL_DEADLINE_MS, async () => {
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
  });
}
