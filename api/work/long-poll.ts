import { mayStill } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller, CallerRequest, RequiredScope } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import { DatabaseUnavailableError } from '#db/connection/database.ts';
import { isFinal, isFinished, isWaitOver, retryAfterSeconds, type WorkStatus } from '#domain/work/lifecycle.ts';

export const RETRY_AFTER_SECONDS = retryAfterSeconds('accepted', null, 0);

interface Waiter extends Pick<CallerRequest, 'onClose'> {
  readonly id: string;
  readonly caller: Pick<Caller, 'lineageId'>;
  readonly find: () => Promise<WorkJson | undefined>;
  readonly show: (found: WorkJson) => Promise<object>;
}

/** Empty without such work, or after the caller has disconnected. */
async function readWhen(
  { waits }: Pick<ApiDependencies, 'waits'>,
  { id, caller: { lineageId }, onClose, find }: Waiter,
  seconds: number,
  until: (status: WorkStatus) => boolean,
) {
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
 * `Prefer: wait=N`: answers when the work is finished or the time is over; other callers get `accepted` at once. A
 * repetition waits too: the answer stored under the Idempotency-Key says that the work was accepted.
 */
export async function replyAfterPreferredWait(
  dependencies: Pick<ApiDependencies, 'keys' | 'waits' | 'logger' | 'now'>,
  waiter: Waiter & Pick<CallerRequest, 'header' | 'caller'> & { readonly scope: RequiredScope },
  accepted: Reply,
  finished: { readonly when: (status: WorkStatus) => boolean; readonly status: 200 | 201 },
): Promise<Reply> {
  const preferred = preferredWait(waiter.header('Prefer'));
  if (preferred === undefined) return accepted;
  try {
    // Do not wait for a person.
    const until = (status: WorkStatus) => finished.when(status) || status === 'needs_attention';
    const { found, isGranted } = await readWhen(dependencies, waiter, preferred, until);
    if (found === undefined) return accepted;
    // A refusal would mean that nothing was done.
    if (!(await mayStill(dependencies, waiter.caller, waiter.scope))) return accepted;
    const { 'Content-Type': _type, 'Retry-After': _retry, ...headers } = accepted.headers;
    const applied = { ...headers, ...preferenceApplied(dependencies, preferred, isGranted) };
    const shown = await waiter.show(found);
    if (finished.when(found.status)) return jsonReply(finished.status, shown, applied);
    return jsonReply(202, shown, { ...applied, 'Retry-After': retryAfter(found, dependencies.now()) });
  } catch (error) {
    // The work is accepted although it cannot be read now.
    if (!(error instanceof DatabaseUnavailableError)) throw error;
    dependencies.logger.warn({ err: error }, 'the wait of a caller ends early: the database is down');
    return accepted;
  }
}

export const longPollHeaders = {
  'Preference-Applied':
    'With `wait=N`: `wait=` and the seconds granted, as with `Prefer: wait=N`. Absent when the API did not wait: ' +
    'too many callers are waiting, or the API is stopping.',
  'Retry-After': 'With `wait=N`, when the wait ended without the result: seconds after which to call again.',
} as const;

/** RFC 7240: only a preference that was applied is mentioned. */
export function preferenceApplied(
  { waits }: Pick<ApiDependencies, 'waits'>,
  seconds: number,
  isGranted: boolean,
): Readonly<Record<string, string>> {
  return isGranted ? { 'Preference-Applied': `wait=${waits.granted(seconds)}` } : {};
}

/**
 * @param asked.until undefined: until it is finished, or waits for a person.
 * @returns undefined without such work, or after the caller has disconnected.
 */
export async function replyAfterWait(
  dependencies: Pick<ApiDependencies, 'waits' | 'now'>,
  waiter: Waiter,
  { wait, until }: { readonly wait: number | undefined; readonly until: readonly WorkStatus[] | undefined },
): Promise<Reply | undefined> {
  // A final status ends every wait: no other status follows.
  const has = (status: WorkStatus) =>
    until === undefined ? isFinished(status) : until.includes(status) || isFinal(status);
  const isEnough = until === undefined ? isWaitOver : has;
  const { found, isGranted } = await readWhen(dependencies, waiter, wait ?? 0, isEnough);
  if (found === undefined) return undefined;
  const shown = await waiter.show(found);
  if (wait === undefined) return jsonReply(200, shown);
  return jsonReply(200, shown, {
    ...preferenceApplied(dependencies, wait, isGranted),
    ...(!has(found.status) && { 'Retry-After': retryAfter(found, dependencies.now()) }),
  });
}

/** @throws Error when there is none. */
export function locatedId(path: string, { headers }: Reply): string {
  const location = headers['Location'];
  if (location === undefined || !location.startsWith(`${path}/`)) throw new Error(`an answer of ${path} names no work`);
  return location.slice(path.length + 1);
}

/** Whole seconds. */
export function retryAfter({ status, operations: { next_step_at: next } }: WorkJson, now: number): string {
  return String(retryAfterSeconds(status, next === null ? null : Date.parse(next), now));
}

/**
 * RFC 7240; parameters are ignored. No two parts match the same characters, so no header causes catastrophic
 * backtracking.
 */
const PREFERENCE =
  /\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?\s*((?:;(?:[^";,]|"(?:[^"\\]|\\.)*")*)*)(?:,|$)/y;
const MAX_LENGTH = 1_000;
const MAX_PREFERENCES = 20;

/** Undefined without a readable `wait`: RFC 7240 requires that unknown preferences are ignored. */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  PREFERENCE.lastIndex = 0;
  for (let count = 0; count < MAX_PREFERENCES && PREFERENCE.lastIndex < header.length; count += 1) {
    const found = PREFERENCE.exec(header);
    if (found === null) return undefined;
    const [, name = '', quoted, plain = ''] = found;
    const text = quoted ?? plain;
    if (name.toLowerCase() === 'wait') return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
  }
  return undefined;
}
