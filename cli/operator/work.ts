import type { ApiOptions } from '#cli/api/api-access.ts';
import { apiClient, ApiError } from '#cli/api/api-client.ts';
import { AS_CONFIGURED, moneyIn, type OrConfigured } from '#cli/terminal/options.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { OrderBulkResult } from '#clients/typescript/src/index.ts';
import type { Environment } from '#config/environment.ts';
import { counted } from '#domain/text.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';

export interface ActionOptions extends ApiOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly status?: string;
  readonly failureClass?: string;
  readonly attention?: string;
}

/** Waits are in seconds, the deadline is RFC 3339. An undefined option changes nothing. */
export interface RetryPolicyOptions extends ApiOptions {
  readonly reason: string;
  readonly attempts?: OrConfigured<number>;
  readonly firstWait?: OrConfigured<number>;
  readonly longestWait?: OrConfigured<number>;
  readonly deadline?: string;
}

export interface ResolveOptions extends ActionOptions {
  readonly case: string;
  readonly verdict: string;
  readonly next?: string;
  readonly serviceIds: Readonly<Record<string, string | undefined>>;
}

/** The work of one kind at the API. */
export interface WorkDesk {
  readonly kind: WorkKind;
  readonly environment: Environment;
  readonly output?: Output;
}

const MAX_BULK = 100;
export const ALL = 'all';

/** The status is that of the moment of the action, before the work continues. */
const DONE = {
  retry: 'is tried again now',
  release: 'released through the gate',
  abandon: 'abandoned',
  limit: 'limit changed',
  'retry-policy': 'retry policy changed',
  resolve: 'case resolved',
} as const;
type Action = keyof typeof DONE;

/**
 * Each is an action with its own audit entry; a refused one does not stop the others.
 * @param ids none: those that the filter finds.
 * @returns 1 when any was refused.
 * @throws UserError without ids and filters, or with both.
 */
export async function actOnSeveral(
  { kind, environment, output = process.stdout }: WorkDesk,
  asked: { readonly action: Action } & Readonly<Record<string, unknown>>,
  ids: readonly string[],
  { reason, dryRun = false, status, failureClass, attention, ...access }: ActionOptions,
): Promise<number> {
  const { noun, path } = KINDS[kind];
  const isFiltered = status !== undefined || failureClass !== undefined || attention !== undefined;
  if (ids.length === 0 && !isFiltered) {
    throw new UserError(
      `No ${noun}s are selected.`,
      'Give their ids, or a filter: --status, --failure-class or --attention.',
    );
  }
  if (ids.length > 0 && isFiltered) {
    throw new UserError(
      `Both ids (${ids.length}) and a filter are given.`,
      'Give one or the other, so that no others are changed by mistake.',
    );
  }
  // A hundred actions are as many transactions, one after the other.
  const api = apiClient(access, environment, { withinMs: 90_000 });
  // Read all ids first: work may still match after the action, and the loop would never end.
  const filter = { status, failure_class: failureClass, attention };
  const chosen = ids.length > 0 ? ids : (await api.all<{ readonly id: string }>(path, filter)).map(({ id }) => id);
  const lines: OrderBulkResult['data'] = [];
  for (let from = 0; from < chosen.length; from += MAX_BULK) {
    const { data } = await api.call<OrderBulkResult>({
      path: `${path}/bulk-actions`,
      body: { ...asked, reason, filter: { ids: chosen.slice(from, from + MAX_BULK) }, dry_run: dryRun },
      keyed: !dryRun,
    });
    lines.push(...data);
  }
  for (const line of lines) printLine(output, bulkLine(asked.action, line));
  const refused = lines.filter(({ result }) => result === 'refused' || result === 'not_found').length;
  if (lines.length === 0) printLine(output, `No ${noun}s.`);
  else if (dryRun) printLine(output, `${counted(lines.length - refused, noun)}. Nothing was changed.`);
  else printLine(output, `${lines.length - refused} of ${counted(lines.length, noun)} done.`);
  return refused === 0 ? 0 : 1;
}

/** @param maxPrice such as `12.50 EUR`, or `none`. */
export async function limitWork(desk: WorkDesk, id: string, maxPrice: string, options: ActionOptions): Promise<number> {
  const price = maxPrice === 'none' ? null : moneyIn(maxPrice);
  if (price === undefined)
    throw new UserError(`${JSON.stringify(maxPrice)} is not a price.`, 'Write it like "12.50 EUR", or none.');
  const change = { max_price: price };
  if (id === ALL) return await actOnSeveral(desk, { action: 'limit', ...change }, [], options);
  requireNoFilter(options);
  return await actOnOne(desk, id, 'limit', { reason: options.reason, ...change }, options);
}

export async function changeRetryPolicy(
  desk: WorkDesk,
  id: string,
  { reason, attempts, firstWait, longestWait, deadline, ...access }: RetryPolicyOptions,
): Promise<number> {
  const named = Object.entries({
    attempts,
    first_wait_seconds: firstWait,
    longest_wait_seconds: longestWait,
    deadline,
  }).filter(([, value]) => value !== undefined);
  const change = Object.fromEntries(named.map(([name, value]) => [name, value === AS_CONFIGURED ? null : value]));
  if (named.length === 0) {
    throw new UserError('No change is given.', 'Give --attempts, --first-wait, --longest-wait or --deadline.');
  }
  return await actOnOne(desk, id, 'retry-policy', { reason, ...change }, access);
}

export async function resolveCase(desk: WorkDesk, id: string, options: ResolveOptions): Promise<number> {
  const { serviceIds, case: reasonOfCase, verdict, next, ...common } = options;
  const judged = { case: reasonOfCase, verdict, next };
  if (id !== ALL) {
    requireNoFilter(options);
    return await actOnOne(desk, id, 'resolve', { reason: options.reason, ...judged, ...serviceIds }, options);
  }
  if (Object.values(serviceIds).some((given) => given !== undefined)) {
    throw new UserError(
      `An id at the service is given together with "${ALL}".`,
      `Give it with the id of one ${KINDS[desk.kind].noun}.`,
    );
  }
  return await actOnSeveral(desk, { action: 'resolve', ...judged }, [], common);
}

/** Beside an id the caller may expect an action on several. */
function requireNoFilter({ status, failureClass, attention, dryRun }: ActionOptions): void {
  if ((status ?? failureClass ?? attention) === undefined && dryRun !== true) return;
  throw new UserError('An id is given together with a filter or --dry-run.', `Give "${ALL}" instead of the id.`);
}

/** @returns 1 when the API refuses the action or knows no such work; the reason is printed. */
async function actOnOne(
  { kind, environment, output = process.stdout }: WorkDesk,
  id: string,
  action: 'limit' | 'retry-policy' | 'resolve',
  body: Readonly<Record<string, unknown>>,
  access: ApiOptions,
): Promise<number> {
  const { path, noun } = KINDS[kind];
  try {
    const { status } = await apiClient(access, environment).call<{ readonly status: string }>({
      path: `${path}/${encodeURIComponent(id)}/${action}`,
      method: action === 'resolve' ? 'POST' : 'PATCH',
      body,
    });
    printLine(output, doneLine(id, action, status));
    return 0;
  } catch (error) {
    // An API without this kind of work also answers 404.
    const isUnknown = error instanceof ApiError && error.status === 404 && error.code !== 'route_not_found';
    if (isUnknown) printLine(output, refusedLine(id, `there is no such ${noun}`));
    else if (error instanceof ApiError && error.status === 409) printLine(output, refusedLine(id, error.reason));
    else throw error;
    return 1;
  }
}

function doneLine(id: string, action: Action, status: string | null): string {
  return `${id}  ${DONE[action]}  (status at that moment: ${status})`;
}

function refusedLine(id: string, reason: string | null): string {
  return `${id}  refused: ${reason}`;
}

function bulkLine(action: Action, line: OrderBulkResult['data'][number]): string {
  const { id, status, failure_class: failure, attention, result, detail } = line;
  const reason = attention ?? failure;
  switch (result) {
    case 'would_apply':
      return [`would ${action}: ${id}`, status, reason === null ? null : `(${reason})`].filter(Boolean).join('  ');
    case 'applied':
      return doneLine(id, action, status);
    case 'unchanged':
      return `${id}  unchanged: already done  (status at that moment: ${status})`;
    case 'not_found':
      return refusedLine(id, 'no work has this id');
    case 'refused':
      return refusedLine(id, detail);
    default:
      return `${id}  ${result}`;
  }
}
