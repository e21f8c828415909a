import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { witnessOfEnd, type Witness } from '#domain/purchase/restored-records.ts';
import { startDecision, type WorkflowRunState } from '#domain/relay/start-decision.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isPassing } from '#temporal/grpc-status.ts';
import {
  operatorActedSignal,
  rememberedQuery,
  serviceObservedSignal,
  TASK_QUEUE,
  WORK_WORKFLOWS,
  workflowId,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
  type Remembered,
  type ServiceObservation,
} from '#workflows/messages.ts';
import { startSearchAttributes, type SearchFacts } from '#workflows/search-attributes.ts';

/** What a workflow is started with. Nothing personal: part of it is shown and indexed in plain text. */
export interface WorkStart extends SearchFacts {
  readonly id: string;
  readonly vpnPlanId?: number;
  readonly policy: PurchaseWorkflowInput['policy'];
}

export interface StartOptions {
  /** Asks for the first task to be run by this very process; its client must share the worker's `NativeConnection`. */
  readonly eager?: boolean;
  /**
   * Reads whether the row of the work has ended. It is asked only where the workflow has completed: a row that is
   * unfinished all the same has lost that end, and a new run is started for it.
   */
  readonly isEnded: () => Promise<boolean>;
}

/** Resolves with one of these when a workflow is running or has completed for this work. */
export type StartOutcome =
  /** By this call. */
  | 'started'
  /** It runs already. */
  | 'running'
  /**
   * It ran and ended well, and its row says so. One that was terminated, failed or timed out is started again instead.
   */
  | 'finished';

type PurchaseWorkflow = (input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>;

/** A workflow can end between our start and our look at it; twice in a row is no coincidence any more. */
const TRIES = 3;

/** Starts the workflow of a piece of work unless it runs or has ended well. May be called any number of times. */
export async function startWork(client: Client, start: WorkStart, options: StartOptions): Promise<StartOutcome> {
  const begin = async (again: Again | undefined) => {
    await client.workflow.start<PurchaseWorkflow>(WORK_WORKFLOWS[start.kind], {
      ...startOptions(start, again),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      ...(options.eager === true ? { requestEagerStart: true } : {}),
    });
    return 'started' as const;
  };
  return unlessInHand(client, start, options, begin);
}

/**
 * Signals a workflow that the service has reported something; starts one where none runs.
 *
 * @returns `finished` when it has completed and was not signalled: the caller then judges the report against the row.
 */
export async function tellWork(
  client: Client,
  start: WorkStart,
  observation: ServiceObservation,
  options: Pick<StartOptions, 'isEnded'>,
): Promise<'notified' | 'finished'> {
  return signalWithStart(client, start, { signal: serviceObservedSignal.name, signalArgs: [observation] }, options);
}

/** Lets a workflow see what a person did in PostgreSQL, starting it where none runs. */
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
  const outcome = await unlessInHand(client, start, options, notify);
  // One that runs takes the signal: it has begun since the signal was refused.
  if (outcome === 'running') return signalWithStart(client, start, signal, options);
  return outcome;
}

/** How a workflow is started that is not the first one. */
interface Again {
  /** What the run before knew, which is nothing where it cannot tell. */
  readonly remembered: Remembered;
  /** True when that run has completed, and its row has lost its end. */
  readonly isAfterEnd: boolean;
}

/**
 * Does what starts a workflow, and decides what follows where Temporal refuses it because of a run that was there
 * before.
 */
async function unlessInHand<Begun extends string>(
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
    // The row is read after the workflow: one that is just completing has ended its row before.
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
  const item = packageId === undefined ? `VPN plan ${vpnPlanId}` : `Package ${packageId}`;
  return {
    workflowId: workflowId(start),
    taskQueue: TASK_QUEUE,
    args: [{ work: { kind, id }, policy, ...(again !== undefined && { carried: { holds: 0, ...again.remembered } }) }],
    // A second run follows Terminate, a bug, or a database that has lost commits. It is handed what the one before
    // knew, so it is no plain start.
    workflowIdReusePolicy: reusePolicy(again),
    typedSearchAttributes: startSearchAttributes(start),
    staticSummary: `${item} for ${asCode(externalReference)} (${environment})`,
    staticDetails: [
      KINDS[kind].summary,
      '',
      `- Id of the ${KINDS[kind].noun}: ${asCode(id)}`,
      `- Reference of the caller: ${asCode(externalReference)}`,
      `- ${item}`,
      `- Environment: ${environment}`,
      '',
      `Terminate and Reset are safe: the ${KINDS[kind].noun} goes on from what PostgreSQL knows of it.`,
    ].join('\n'),
  };
}

/**
 * Where another process has begun a run that has completed meanwhile, none may follow it with what an earlier one knew.
 */
function reusePolicy(again: Again | undefined): WorkflowIdReusePolicy {
  if (again === undefined) return WorkflowIdReusePolicy.REJECT_DUPLICATE;
  return again.isAfterEnd ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY;
}

/** A caller's text inside Markdown: shown as it is, whatever characters it holds. */
function asCode(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``;
}

/** The newest run of a workflow id. */
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

/** What a completed run knew of its work, from its result. */
async function witnessOf(client: Client, work: WorkRef, runId: string | undefined): Promise<Witness> {
  const { witness, ...end } = await client.workflow.getHandle<PurchaseWorkflow>(workflowId(work), runId).result();
  return witnessOfEnd(end, witness);
}

/** Replaying a run takes a worker that is free. */
const QUERY_DEADLINE_MS = 5_000;

/**
 * What a run knew that was terminated, or has failed. Its row knows as much, unless PostgreSQL has lost commits.
 *
 * @returns nothing when it cannot be asked: it never ran a task, or its history cannot be replayed.
 * @throws Error when it cannot be asked at this moment.
 */
async function rememberedBy(client: Client, work: WorkRef, runId: string | undefined): Promise<Remembered> {
  try {
    return await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId(work), runId).query(rememberedQuery),
    );
  } catch (error) {
    if (isPassing(error)) throw error;
    return {};
  }
}
