import { DecryptionError, type KeyRing } from '#crypto/key-ring.ts';
import { sqlState, type Database } from '#db/connection/database.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { postpone, release, type TakenRow } from '#db/queues/relay-queues.ts';
import { type StartedWork, WorkMissingError } from '#db/work/rows.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { afterFailure, type NotifyOutcome, type RelayFailure } from '#domain/relay/relay-decision.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { inSpan } from '#telemetry/tracing.ts';
import type { StartOutcome } from '#temporal/start-work.ts';

/** Each call starts the workflow if none is running. */
export interface WorkWorkflows {
  /** @returns `finished` when it has completed and was not started. */
  start(work: StartedWork): Promise<StartOutcome>;
  wake(work: StartedWork): Promise<NotifyOutcome>;
  signalReport(work: StartedWork, observation: ServiceObservation): Promise<NotifyOutcome>;
}

export interface EndpointWorkflows {
  wake(endpointId: string, options: { readonly urgent: boolean }): Promise<void>;
}

export interface RelayOptions {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly workflows: WorkWorkflows;
  readonly endpoints: EndpointWorkflows;
  readonly wakeups: Pick<Wakeups, 'subscribe' | 'wake' | 'isHearing'>;
  readonly policy: RelayPolicy;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** For metrics and displayed times. Leases use the clock of PostgreSQL. */
  readonly now: () => number;
}

export interface RelayContext extends RelayOptions {
  /** @throws CutOffError when the relay has to end, also during the call. */
  readonly call: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Called when a row was postponed: only a poll knows when it is due. */
  readonly onPostponed: () => void;
  readonly isCutOff: () => boolean;
}

export interface Batch {
  readonly taken: number;
  readonly again: boolean;
  /** Until failed rows without a due time are tried again. */
  readonly retryAfterMs?: number;
}

/** Whether the call had an effect is unknown. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';

  constructor() {
    super('the relay has to end and does not wait any longer');
  }
}

/** No workflow got the message, because it ended before its work. The row is tried again. */
export class WorkflowEndedError extends Error {
  override readonly name = 'WorkflowEndedError';

  constructor() {
    super('the workflow has ended although the work has not');
  }
}

export class UnreadableRowError extends Error {
  override readonly name = 'UnreadableRowError';

  constructor(rowId: bigint, what: string) {
    super(`the body of inbox row ${rowId} ${what}`);
  }
}

/** Rows processed in parallel. Temporal answers each start in milliseconds, so more would only queue there. */
const PARALLEL = 16;

/** `work` must not throw. */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, lane));
}

export function countRow({ metrics, now }: RelayContext, queue: 'inbox' | 'outbox', result: string, since: Date): void {
  metrics.relayRows.inc({ queue, result });
  metrics.relayDelay.observe({ queue }, Math.max(0, now() - since.getTime()) / 1_000);
}

/** The workflow and its activities continue the trace of this span. */
export function inWorkSpan<Result>(
  call: string,
  { kind, id, traceparent }: StartedWork,
  options: { readonly link?: string | null },
  work: () => Promise<Result>,
): Promise<Result> {
  const attributes = { 'reseller.work.kind': kind, 'reseller.work.id': id };
  return inSpan(`${call}:${kind}`, { kind: 'producer', parent: traceparent, attributes, ...options }, work);
}

const TEXTS = {
  inbox: {
    quarantined: 'a report of the service cannot be processed; it is quarantined and a case is open',
    postponed: 'a report of the service could not be passed on; the relay tries again',
  },
  outbox: {
    quarantined: 'a workflow cannot be started or woken; the request is quarantined and a case is open',
    postponed: 'a workflow could not be started or woken; the relay tries again',
  },
} as const;

/** Releases, postpones or quarantines the row. Never throws. */
export async function handleFailure(
  { database, policy, metrics, logger, onPostponed }: RelayContext,
  queue: keyof typeof TEXTS,
  row: TakenRow & Pick<InboxRow, 'lastingErrors'>,
  about: Readonly<Record<string, string>>,
  error: unknown,
  quarantine: (text: string) => Promise<void>,
): Promise<void> {
  try {
    if (error instanceof CutOffError) return await database.run((db) => release(db, queue, [row]));
    const next = afterFailure(failureOf(error), row, policy);
    const isOver = next.kind === 'quarantine';
    const result = isOver ? 'quarantined' : 'postponed';
    metrics.relayRows.inc({ queue, result });
    logger[isOver ? 'error' : 'warn']({ err: error, ...about, tries: row.tries }, TEXTS[queue][result]);
    if (isOver) return await quarantine(textOf(error));
    await database.run((db) => postpone(db, queue, row, { error: textOf(error), ...next }));
    onPostponed();
  } catch (failure) {
    logger.warn({ err: failure, ...about }, 'a failure could not be stored; the row is tried again after its lease');
  }
}

function failureOf(error: unknown): RelayFailure {
  if (error instanceof DecryptionError || error instanceof UnreadableRowError) return { kind: 'unreadable' };
  if (error instanceof WorkMissingError) return { kind: 'work_missing' };
  const state = sqlState(error);
  return state === undefined ? { kind: 'other' } : { kind: 'sql', state };
}

/** Stored with the row. The message of a failed query contains its parameters, so only its state is used. */
function textOf(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `PostgreSQL error ${state}`;
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}
