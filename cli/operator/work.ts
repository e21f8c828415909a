import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { type ApiClient, ApiCommands, ApiError } from '#cli/api/api-client.ts';
import type { WorkResource } from '#cli/operator/kinds.ts';
import { AS_CONFIGURED, type OrConfigured } from '#cli/terminal/options.ts';
import type { Output } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';
import { counted } from '#domain/text.ts';

export interface WorkFilter {
  readonly status?: string;
  readonly failureClass?: string;
  readonly attention?: string;
}

export interface ActionOptions extends ApiOptions, WorkFilter {
  readonly reason: string;
  readonly dryRun?: boolean;
}

/** An undefined option changes nothing. */
export interface RetryPolicyOptions extends ApiOptions {
  readonly reason: string;
  readonly attempts?: OrConfigured<number>;
  /** In seconds. */
  readonly firstWait?: OrConfigured<number>;
  /** In seconds. */
  readonly longestWait?: OrConfigured<number>;
  /** RFC 3339. */
  readonly deadline?: string;
}

export interface ResolveOptions extends ActionOptions {
  readonly case: string;
  readonly verdict: string;
  readonly next?: string;
  readonly serviceIds: Readonly<Record<string, string | undefined>>;
}

type BulkAction =
  | { readonly action: PlainAction }
  | {
      readonly action: 'limit';
      readonly max_price: { readonly amount: string | undefined; readonly currency: string | undefined } | null;
    }
  | { readonly action: 'resolve'; readonly case: string; readonly verdict: string; readonly next: string | undefined };

const MAX_BULK = 100;

/** Their only argument is the reason. */
export type PlainAction = 'retry' | 'release' | 'abandon';

const CHANGES: ReadonlySet<Action> = new Set(['limit', 'retry-policy']);

export const ALL = 'all';

export class WorkCommands extends ApiCommands {
  readonly #kind: WorkResource;

  constructor(kind: WorkResource, environment: Environment, output: Output = process.stdout) {
    super(environment, output);
    this.#kind = kind;
  }

  /**
   * Each is an action with its own audit entry; a refused one does not stop the others. @returns 1 when any was
   * refused.
   */
  async perform(action: PlainAction, ids: readonly string[], options: ActionOptions): Promise<number> {
    return await this.#performOnSeveral({ action }, ids, options);
  }

  /** @throws UserError without ids and filters, or with both. */
  async #performOnSeveral(asked: BulkAction, ids: readonly string[], options: ActionOptions): Promise<number> {
    const filtered =
      options.status !== undefined || options.failureClass !== undefined || options.attention !== undefined;
    if (ids.length === 0 && !filtered) {
      throw new UserError(
        `No ${this.#kind.noun}s are selected.`,
        'Give their ids, or a filter: --status, --failure-class or --attention.',
      );
    }
    if (ids.length > 0 && filtered) {
      throw new UserError(
        `Both ids (${ids.length}) and a filter are given.`,
        'Give one or the other, so that no others are changed by mistake.',
      );
    }
    const api = this.api(options);
    const lines = await this.#callInParts(api, asked, ids, options);
    for (const line of lines) this.say(bulkLine(asked.action, line));
    const refused = lines.filter(({ result }) => result === 'refused' || result === 'not_found').length;
    if (lines.length === 0) this.say(`No ${this.#kind.noun}s.`);
    else if (options.dryRun === true)
      this.say(`${counted(lines.length - refused, this.#kind.noun)}. Nothing was changed.`);
    else this.say(`${lines.length - refused} of ${counted(lines.length, this.#kind.noun)} done.`);
    return refused === 0 ? 0 : 1;
  }

  async #callInParts(
    api: ApiClient,
    asked: BulkAction,
    ids: readonly string[],
    options: ActionOptions,
  ): Promise<BulkResult[]> {
    const { reason, dryRun = false } = options;
    const lines: BulkResult[] = [];
    const call = async (of: readonly string[]): Promise<void> => {
      const { data } = await api.call({
        path: `${this.#kind.path}/bulk-actions`,
        body: { ...asked, reason, filter: { ids: of }, dry_run: dryRun },
        answer: bulkResult,
        ...(dryRun ? {} : { idempotencyKey: randomUUID() }),
      });
      lines.push(...data);
    };
    // Read all ids first: work may still match after the action, and the loop would never end.
    const chosenIds = ids.length > 0 ? ids : (await this.#matching(api, options)).map(({ id }) => id);
    for (let from = 0; from < chosenIds.length; from += MAX_BULK) await call(chosenIds.slice(from, from + MAX_BULK));
    return lines;
  }

  /** @param maxPrice such as `12.50 EUR`, or `none`. */
  async limit(id: string, maxPrice: string, options: ActionOptions): Promise<number> {
    const [amount, currency, ...more] = maxPrice.split(' ');
    if (maxPrice !== 'none' && (amount === undefined || currency === undefined || more.length > 0)) {
      throw new UserError(`${JSON.stringify(maxPrice)} is not a price.`, 'Write it like "12.50 EUR", or none.');
    }
    const limit = maxPrice === 'none' ? null : { amount, currency };
    if (id === ALL) return await this.#performOnSeveral({ action: 'limit', max_price: limit }, [], options);
    this.#requireNoFilter(options);
    return (await this.#performOnOne(this.api(options), id, 'limit', { reason: options.reason, max_price: limit }))
      ? 0
      : 1;
  }

  async retryPolicy(
    id: string,
    { reason, attempts, firstWait, longestWait, deadline, ...options }: RetryPolicyOptions,
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
    return (await this.#performOnOne(this.api(options), id, 'retry-policy', { reason, ...change })) ? 0 : 1;
  }

  async resolve(
    id: string,
    { reason, case: caseReason, verdict, next, serviceIds, ...options }: ResolveOptions,
  ): Promise<number> {
    if (id === ALL) {
      if (Object.values(serviceIds).some((given) => given !== undefined)) {
        throw new UserError(
          `An id at the service is given together with "${ALL}".`,
          `Give it with the id of one ${this.#kind.noun}.`,
        );
      }
      return await this.#performOnSeveral({ action: 'resolve', case: caseReason, verdict, next }, [], {
        reason,
        ...options,
      });
    }
    this.#requireNoFilter(options);
    const body = { reason, case: caseReason, verdict, next, ...serviceIds };
    return (await this.#performOnOne(this.api(options), id, 'resolve', body)) ? 0 : 1;
  }

  /** Beside an id the caller may expect an action on several. */
  #requireNoFilter({ status, failureClass, attention, dryRun }: Partial<ActionOptions>): void {
    if ((status ?? failureClass ?? attention) === undefined && dryRun !== true) return;
    throw new UserError('An id is given together with a filter or --dry-run.', `Give "${ALL}" instead of the id.`);
  }

  /** @returns false when the API refuses the action or knows no such work; the reason is printed. */
  async #performOnOne(api: ApiClient, id: string, action: Action, body: Record<string, unknown>): Promise<boolean> {
    try {
      const { status } = await api.call({
        path: `${this.#kind.path}/${encodeURIComponent(id)}/${action}`,
        ...(CHANGES.has(action) && { method: 'PATCH' }),
        body,
        answer: work,
      });
      this.say(doneLine(id, action, status));
      return true;
    } catch (error) {
      const reason = error instanceof ApiError ? this.#refusal(error) : undefined;
      if (reason === undefined) throw error;
      this.say(refusedLine(id, reason));
      return false;
    }
  }

  #refusal({ status, code, reason }: ApiError): string | undefined {
    if (status === 409) return reason;
    // An API without this kind of work also answers 404.
    return status === 404 && code !== 'route_not_found' ? `there is no such ${this.#kind.noun}` : undefined;
  }

  async #matching(api: ApiClient, { status, failureClass, attention }: WorkFilter): Promise<Work[]> {
    return api.all(this.#kind.path, { status, failure_class: failureClass, attention }, work);
  }
}

export const work = z.looseObject({
  id: z.string(),
  status: z.string(),
});
export type Work = z.output<typeof work>;

export const bulkResult = z.object({
  matched: z.int(),
  remaining: z.int(),
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string().nullable(),
      failure_class: z.string().nullable(),
      attention: z.string().nullable(),
      result: z.enum(['would_apply', 'applied', 'unchanged', 'refused', 'not_found']),
      detail: z.string().nullable(),
    }),
  ),
});
export type BulkResult = z.output<typeof bulkResult>['data'][number];

/** The status is that of the moment of the action, before the work continues. */
const DONE = {
  retry: 'is tried again now',
  release: 'released through the gate',
  abandon: 'abandoned',
  limit: 'limit changed',
  'retry-policy': 'retry policy changed',
  resolve: 'case resolved',
} as const;
export type Action = keyof typeof DONE;

export function doneLine(id: string, action: Action, status: string | null): string {
  return `${id}  ${DONE[action]}  (status at that moment: ${status})`;
}

export function refusedLine(id: string, reason: string | null): string {
  return `${id}  refused: ${reason}`;
}

export function bulkLine(action: Action, result: BulkResult): string {
  const { id, status, failure_class: failure, attention } = result;
  const reason = attention ?? failure;
  switch (result.result) {
    case 'would_apply':
      return [`would ${action}: ${id}`, status, reason === null ? undefined : `(${reason})`]
        .filter((part) => typeof part === 'string')
        .join('  ');
    case 'applied':
      return doneLine(id, action, status);
    case 'unchanged':
      return `${id}  unchanged: already done  (status at that moment: ${status})`;
    case 'refused':
      return refusedLine(id, result.detail);
    case 'not_found':
      return refusedLine(id, 'no work has this id');
  }
}
