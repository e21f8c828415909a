import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { apiAccess, type ApiOptions } from '#cli/api/api-access.ts';
import { ApiClient, ApiError } from '#cli/api/api-client.ts';
import { AS_CONFIGURED, type OrConfigured } from '#cli/terminal/arguments.ts';
import { counted } from '#cli/terminal/marked-line.ts';
import type { Output } from '#cli/terminal/terminal.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { printLine } from '#cli/terminal/visible-text.ts';
import type { WorkCommand } from '#cli/work/work-kinds.ts';
import type { Environment } from '#config/environment.ts';

/** Which work; each filter narrows the choice. */
export interface WorkChoice {
  readonly status?: string;
  readonly failureClass?: string;
  readonly attention?: string;
}

export interface ActOptions extends ApiOptions, WorkChoice {
  readonly why: string;
  readonly dryRun?: boolean;
}

/** What is left out stays as it is. */
export interface RetryPolicyOptions extends ApiOptions {
  readonly why: string;
  readonly attempts?: OrConfigured<number>;
  /** In seconds. */
  readonly firstWait?: OrConfigured<number>;
  /** In seconds. */
  readonly longestWait?: OrConfigured<number>;
  /** RFC 3339. */
  readonly deadline?: string;
}

export interface ResolveOptions extends ActOptions {
  readonly case: string;
  readonly verdict: string;
  readonly next?: string;
  /** What the verdict `bought` names, by the field of the API. */
  readonly serviceIds: Readonly<Record<string, string | undefined>>;
}

const work = z.looseObject({
  id: z.string(),
  status: z.string(),
  package_id: z.int().optional(),
  vpn_plan_id: z.int().optional(),
  failure: z.object({ class: z.string() }).nullable(),
  attention: z.object({ reason: z.string() }).nullable(),
  next_step_at: z.string().nullable(),
});
type Work = z.output<typeof work>;
const page = z.object({ data: z.array(work), next_cursor: z.string().nullable() });

const bulkResult = z.object({
  matched: z.int(),
  remaining: z.int(),
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string().nullable(),
      failure_class: z.string().nullable(),
      attention: z.string().nullable(),
      result: z.enum(['would_act', 'applied', 'unchanged', 'refused', 'not_found']),
      detail: z.string().nullable(),
    }),
  ),
});
type BulkLine = z.output<typeof bulkResult>['data'][number];

/** An act on many, in the words of the API. */
type BulkRequest =
  | { readonly action: PlainAct }
  | {
      readonly action: 'limit';
      readonly max_price: { readonly amount: string | undefined; readonly currency: string | undefined } | null;
    }
  | { readonly action: 'resolve'; readonly case: string; readonly verdict: string; readonly next: string | undefined };

const PAGE = 100;
/** What one call of the API acts on; more ids are sent in several. */
const MAX_BULK = 100;

/** What an act has done, in words: the answer shows the work as it was stored at that moment, before it went on. */
const DONE = {
  retry: 'asked to try again now',
  release: 'let through the gate',
  abandon: 'given up',
  limit: 'limit changed',
  'retry-policy': 'retry policy changed',
  resolve: 'case judged',
} as const;
type Act = keyof typeof DONE;
/** Those that say nothing but why. */
export type PlainAct = 'retry' | 'release' | 'abandon';

/** Names all that the filters choose, where an act else names one. */
export const ALL = 'all';

/** The commands of one kind of work. */
export class WorkDesk {
  readonly #kind: WorkCommand;
  readonly #environment: Environment;
  readonly #output: Output;

  constructor(kind: WorkCommand, environment: Environment, output: Output = process.stdout) {
    this.#kind = kind;
    this.#environment = environment;
    this.#output = output;
  }

  /** `list`. */
  async list(options: WorkChoice & ApiOptions): Promise<void> {
    const found = await this.#chosen(this.#api(options), options);
    if (found.length === 0) this.#say(this.#none());
    for (const one of found) this.#say(this.#line(one));
  }

  /**
   * `retry`, `release` and `abandon`: on what is named, or on all that the filters choose. Each is an act of its own,
   * with its own record; one that is refused does not stop the others.
   *
   * @returns the exit code: 1 when any was refused.
   */
  async act(action: PlainAct, ids: readonly string[], options: ActOptions): Promise<number> {
    return await this.#actOnChosen({ action }, ids, options);
  }

  /** @param asked the act, in the words of the API. */
  async #actOnChosen(asked: BulkRequest, ids: readonly string[], options: ActOptions): Promise<number> {
    const filtered =
      options.status !== undefined || options.failureClass !== undefined || options.attention !== undefined;
    if (ids.length === 0 && !filtered) {
      throw new UserError(
        `It is not said which ${this.#kind.noun}s.`,
        'Name their ids, or choose with --status, --failure-class or --attention.',
      );
    }
    if (ids.length > 0 && filtered) {
      throw new UserError(
        `${ids.length} ids are named beside a filter.`,
        'Do one or the other, so that nothing is hit by mistake.',
      );
    }
    const api = this.#api(options);
    const lines = await this.#actOnMany(api, asked, ids, options);
    for (const line of lines) this.#say(bulkLine(asked.action, line));
    const refused = lines.filter(({ result }) => result === 'refused' || result === 'not_found').length;
    if (lines.length === 0) this.#say(this.#none());
    else if (options.dryRun === true) this.#say(`${this.#counted(lines.length - refused)}. Nothing was done.`);
    else this.#say(`${lines.length - refused} of ${this.#counted(lines.length)} done.`);
    return refused === 0 ? 0 : 1;
  }

  /** Call after call, until all were acted on: each takes so many, the oldest first. */
  async #actOnMany(
    api: ApiClient,
    asked: BulkRequest,
    ids: readonly string[],
    options: ActOptions,
  ): Promise<BulkLine[]> {
    const { why, dryRun = false } = options;
    const lines: BulkLine[] = [];
    const call = async (of: readonly string[]): Promise<void> => {
      const { data } = await api.call({
        path: `${this.#kind.path}/bulk-actions`,
        body: { ...asked, why, filter: { ids: of }, dry_run: dryRun },
        answer: bulkResult,
        ...(dryRun ? {} : { idempotencyKey: randomUUID() }),
      });
      lines.push(...data);
    };
    // An act may leave the work in its own filter, and what is done twice is no second act: what is left is named
    // before.
    const chosen = ids.length > 0 ? ids : (await this.#chosen(api, options)).map(({ id }) => id);
    for (let from = 0; from < chosen.length; from += MAX_BULK) await call(chosen.slice(from, from + MAX_BULK));
    return lines;
  }

  /** `limit`. @param id of one, or {@link ALL}. @param maxPrice `12.50 EUR`, or `none`. @returns the exit code. */
  async limit(id: string, maxPrice: string, options: ActOptions): Promise<number> {
    const [amount, currency, ...more] = maxPrice.split(' ');
    if (maxPrice !== 'none' && (amount === undefined || currency === undefined || more.length > 0)) {
      throw new UserError(`${JSON.stringify(maxPrice)} is no price.`, 'Write it like "12.50 EUR", or none.');
    }
    const limit = maxPrice === 'none' ? null : { amount, currency };
    if (id === ALL) return await this.#actOnChosen({ action: 'limit', max_price: limit }, [], options);
    this.#requireNoFilter(options);
    return (await this.#actOn(this.#api(options), id, 'limit', { why: options.why, max_price: limit })) ? 0 : 1;
  }

  /** `retry-policy`. @returns the exit code. */
  async retryPolicy(
    id: string,
    { why, attempts, firstWait, longestWait, deadline, ...options }: RetryPolicyOptions,
  ): Promise<number> {
    const named = Object.entries({
      attempts,
      first_wait_seconds: firstWait,
      longest_wait_seconds: longestWait,
      deadline,
    }).filter(([, value]) => value !== undefined);
    const change = Object.fromEntries(named.map(([name, value]) => [name, value === AS_CONFIGURED ? null : value]));
    if (named.length === 0) {
      throw new UserError(
        'It is not said what is to change.',
        'Name --attempts, --first-wait, --longest-wait or --deadline.',
      );
    }
    return (await this.#actOn(this.#api(options), id, 'retry-policy', { why, ...change })) ? 0 : 1;
  }

  /** `resolve`. @param id of one, or {@link ALL}. @returns the exit code. */
  async resolve(
    id: string,
    { why, case: reason, verdict, next, serviceIds, ...options }: ResolveOptions,
  ): Promise<number> {
    if (id === ALL) {
      if (Object.values(serviceIds).some((given) => given !== undefined)) {
        throw new UserError(
          `An id at the service is named for all ${this.#kind.noun}s.`,
          'What was bought can only be named of one.',
        );
      }
      return await this.#actOnChosen({ action: 'resolve', case: reason, verdict, next }, [], { why, ...options });
    }
    this.#requireNoFilter(options);
    const body = { why, case: reason, verdict, next, ...serviceIds };
    return (await this.#actOn(this.#api(options), id, 'resolve', body)) ? 0 : 1;
  }

  /** A filter beside an id, or a dry run of one, is an accident. */
  #requireNoFilter({ status, failureClass, attention, dryRun }: Partial<ActOptions>): void {
    if ((status ?? failureClass ?? attention) === undefined && dryRun !== true) return;
    throw new UserError('An id is named beside a filter or --dry-run.', `They go with "${ALL}" instead of the id.`);
  }

  /** @returns false when it does not allow it, or there is no such work; the reason is printed. */
  async #actOn(api: ApiClient, id: string, action: Act, body: Record<string, unknown>): Promise<boolean> {
    return await this.#unlessRefused(id, async () => {
      const { status } = await api.call({ path: `${this.#pathOf(id)}/${action}`, body, answer: work });
      this.#say(`${id}  ${DONE[action]}  (status at that moment: ${status})`);
    });
  }

  async #unlessRefused(id: string, call: () => Promise<void>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      const reason = error instanceof ApiError ? this.#refusal(error) : undefined;
      if (reason === undefined) throw error;
      this.#say(`${id}  refused: ${reason}`);
      return false;
    }
  }

  /** @returns undefined when it is the call that is wrong, or the API. */
  #refusal({ status, code, reason }: ApiError): string | undefined {
    if (status === 409) return reason;
    // An API that does not know this kind of work at all answers 404 as well.
    return status === 404 && code !== 'route_not_found' ? `there is no such ${this.#kind.noun}` : undefined;
  }

  /** All of them before anything is done: an act may move the work out of its own filter. */
  async #chosen(api: ApiClient, { status, failureClass, attention }: WorkChoice): Promise<Work[]> {
    const query = new URLSearchParams({ limit: String(PAGE) });
    for (const [name, value] of Object.entries({ status, failure_class: failureClass, attention })) {
      if (value !== undefined) query.set(name, value);
    }
    const found: Work[] = [];
    for (;;) {
      const { data, next_cursor: next } = await api.call({
        path: `${this.#kind.path}?${query.toString()}`,
        answer: page,
      });
      found.push(...data);
      if (next === null) return found;
      query.set('cursor', next);
    }
  }

  #api(options: ApiOptions): ApiClient {
    return new ApiClient(apiAccess(options, this.#environment));
  }

  #pathOf(id: string): string {
    return `${this.#kind.path}/${encodeURIComponent(id)}`;
  }

  #line(found: Work): string {
    const { id, status, package_id: packageId, vpn_plan_id: planId, failure, attention, next_step_at: next } = found;
    const why = attention?.reason ?? failure?.class;
    const reference = found[this.#kind.reference];
    const parts = [
      id,
      status,
      why && `(${why})`,
      packageId && `package ${packageId}`,
      planId && `plan ${planId}`,
      reference,
      next && `next step ${next}`,
    ];
    return parts.filter((part) => typeof part === 'string').join('  ');
  }

  #counted(count: number): string {
    return counted(count, this.#kind.noun);
  }

  #none(): string {
    return `No ${this.#kind.noun}s.`;
  }

  #say(line: string): void {
    printLine(this.#output, line);
  }
}

function bulkLine(
  action: BulkRequest['action'],
  { id, status, failure_class: failure, attention, result, detail }: BulkLine,
): string {
  const why = attention ?? failure;
  switch (result) {
    case 'would_act':
      return [`would ${action}: ${id}`, status, why === null ? undefined : `(${why})`]
        .filter((part) => typeof part === 'string')
        .join('  ');
    case 'applied':
      return `${id}  ${DONE[action]}  (status at that moment: ${status})`;
    case 'unchanged':
      return `${id}  as it was: this is done already  (status at that moment: ${status})`;
    case 'refused':
      return `${id}  refused: ${detail}`;
    case 'not_found':
      return `${id}  refused: there is none with this id`;
  }
}
