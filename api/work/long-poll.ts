/** Answers about work that wait for its end: `Prefer: wait=N` and `?wait=N`. */
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller, Incoming } from '#api/http/operation.ts';
import { preferredWait } from '#api/http/prefer.ts';
import { type Reply, jsonReply } from '#api/http/reply.ts';
import type { WaitResult } from '#api/waits/waits.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';
import { DatabaseUnavailableError } from '#db/connection/database.ts';
import { retryAfterSeconds, isWaitOver, isFinished, isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** Retry-After for work that was just accepted, in seconds. */
export const RETRY_AFTER_SECONDS = retryAfterSeconds('accepted', null, 0);

interface Waiter {
  readonly seconds: number;
  readonly lineageId: string;
  readonly onClose: Incoming['onClose'];
  /** Whether a status ends the wait. */
  readonly until: (status: WorkStatus) => boolean;
}

/**
 * Reads work, waiting for a status.
 *
 * @param find reads the work as the API shows it to this caller. @returns an empty result without such work, or after
 *   the caller has disconnected.
 */
async function readWhen(
  { waits }: Pick<ApiDependencies, 'waits'>,
  id: string,
  find: () => Promise<WorkJson | undefined>,
  { seconds, lineageId, onClose, until }: Waiter,
): Promise<WaitResult<WorkJson | undefined>> {
  return waits.until({
    seconds,
    lineageId,
    subjectId: id,
    isRelevant: ({ data: { status } }) => typeof status !== 'string' || until(status as WorkStatus),
    read: find,
    isEnough: (found) => found === undefined || until(found.status),
    onClose,
  });
}

/**
 * Answers a caller with `Prefer: wait=N` with the work when it is finished, or when the time is over; other callers get
 * `accepted` at once. A repetition waits too: the answer stored under the Idempotency-Key says that the work was
 * accepted.
 *
 * @param accepted the answer without a wait. @param finished when the work is finished, and the status of that answer
 *   then.
 */
export async function replyAfterPreferredWait(
  dependencies: Pick<ApiDependencies, 'waits' | 'database' | 'logger' | 'now'>,
  {
    id,
    header,
    onClose,
    find,
    show,
    caller: { lineageId },
  }: {
    readonly id: string;
    readonly caller: Pick<Caller, 'lineageId'>;
    readonly header: Incoming['header'];
    readonly onClose: Incoming['onClose'];
    readonly find: Parameters<typeof readWhen>[2];
    /** Makes the body of the answer. */
    readonly show: (found: WorkJson) => Promise<object>;
  },
  accepted: Reply,
  finished: { readonly when: (status: WorkStatus) => boolean; readonly status: 200 | 201 },
): Promise<Reply> {
  const preferred = preferredWait(header('Prefer'));
  if (preferred === undefined) return accepted;
  try {
    const { found, isGranted } = await readWhen(dependencies, id, find, {
      seconds: preferred,
      lineageId,
      onClose,
      // Do not wait for a person.
      until: (status) => finished.when(status) || status === 'needs_attention',
    });
    if (found === undefined) return accepted;
    const { 'Content-Type': _type, 'Retry-After': _retry, ...headers } = accepted.headers;
    // RFC 7240: mention only a preference that was applied.
    const applied = {
      ...headers,
      ...(isGranted && { 'Preference-Applied': `wait=${dependencies.waits.granted(preferred)}` }),
    };
    const shown = await show(found);
    if (finished.when(found.status)) return jsonReply(finished.status, shown, applied);
    return jsonReply(202, shown, { ...applied, 'Retry-After': retryAfter(found, dependencies.now()) });
  } catch (error) {
    // The work is accepted although it cannot be read now.
    if (!(error instanceof DatabaseUnavailableError)) throw error;
    dependencies.logger.warn({ err: error }, 'the wait of a caller ends early: the database is down');
    return accepted;
  }
}

/** Headers of the answer to a `GET` that may wait (`?wait=N`), for its description. */
export const longPollHeaders = {
  'Preference-Applied':
    'With `wait=N`: `wait=` and the seconds granted, as with `Prefer: wait=N`. Absent when the API did not wait: ' +
    'too many callers are waiting, or the API is stopping.',
  'Retry-After': 'With `wait=N`, when the wait ended without the result: seconds after which to call again.',
} as const;

/** The header Preference-Applied of a `GET` that has waited. @param seconds the requested seconds. */
export function preferenceApplied(
  { waits }: Pick<ApiDependencies, 'waits'>,
  seconds: number,
  isGranted: boolean,
): Readonly<Record<string, string>> {
  return isGranted ? { 'Preference-Applied': `wait=${waits.granted(seconds)}` } : {};
}

/**
 * Answers a `GET` of work, at once or when it reaches a given status.
 *
 * @param asked.wait in seconds; undefined: no wait. @param asked.until undefined: until it is
 *   finished, or waits for a person.
 * @returns undefined without such work, or after the caller has disconnected.
 */
export async function replyAfterWait(
  dependencies: Pick<ApiDependencies, 'waits' | 'now'>,
  {
    id,
    onClose,
    find,
    show,
    caller: { lineageId },
  }: {
    readonly id: string;
    readonly caller: Pick<Caller, 'lineageId'>;
    readonly onClose: Incoming['onClose'];
    readonly find: Parameters<typeof readWhen>[2];
    /** Makes the body of the answer. */
    readonly show: (found: WorkJson) => Promise<object>;
  },
  { wait, until }: { readonly wait: number | undefined; readonly until: readonly WorkStatus[] | undefined },
): Promise<Reply | undefined> {
  // A final status ends every wait: no other status follows.
  const has = (status: WorkStatus) =>
    until === undefined ? isFinished(status) : until.includes(status) || isFinal(status);
  const { found, isGranted } = await readWhen(dependencies, id, find, {
    seconds: wait ?? 0,
    lineageId,
    onClose,
    until: until === undefined ? isWaitOver : has,
  });
  if (found === undefined) return undefined;
  const shown = await show(found);
  if (wait === undefined) return jsonReply(200, shown);
  return jsonReply(200, shown, {
    ...preferenceApplied(dependencies, wait, isGranted),
    ...(!has(found.status) && { 'Retry-After': retryAfter(found, dependencies.now()) }),
  });
}

/** The id of the work in the Location of an answer. @throws Error when there is none. */
export function locatedId({ path }: Pick<WorkResource, 'path'>, { headers }: Reply): string {
  const location = headers['Location'];
  if (location === undefined || !location.startsWith(`${path}/`)) throw new Error(`an answer of ${path} names no work`);
  return location.slice(path.length + 1);
}

/**
 * The header Retry-After for unfinished work.
 *
 * @param work as the API shows it. @param now epoch milliseconds. @returns whole seconds, as text.
 */
export function retryAfter({ status, operations: { next_step_at: next } }: WorkJson, now: number): string {
  return String(retryAfterSeconds(status, next === null ? null : Date.parse(next), now));
}
