import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { apiAccess, type ApiOptions } from '#cli/api/api-access.ts';
import { ApiClient } from '#cli/api/api-client.ts';
import { printLine, type Output } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

export interface DeliveriesOptions extends ApiOptions {
  readonly status?: string;
  readonly limit?: string;
}

export interface ReplayOptions extends ApiOptions {
  readonly event?: string;
  readonly delivery?: string;
  readonly since?: string;
  readonly until?: string;
  readonly which?: string;
}

const endpoint = z.object({
  id: z.string(),
  url: z.string(),
  status: z.string(),
  disabled_reason: z.string().nullable(),
  event_types: z.array(z.string()),
  failing_since: z.string().nullable(),
  failures: z.int(),
  last_failure: z.string().nullable(),
  missed_since: z.string().nullable(),
});
const delivery = z.object({
  id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  status: z.string(),
  tries: z.int(),
  next_try_at: z.string().nullable(),
  log: z.array(
    z.object({
      at: z.string(),
      status: z.int().nullable(),
      failure: z.string().nullable(),
      duration_ms: z.int(),
      answer_excerpt: z.string().nullable(),
    }),
  ),
});
const replayed = z.object({ queued: z.int(), next_since: z.string().nullable() });

const PATH = '/v1/webhook-endpoints';
/** Largest page of the API. */
const PAGE = 100;
const EXCERPT_SHOWN = 120;

/** The commands about webhook endpoints. */
export class WebhookEndpointCommands {
  readonly #environment: Environment;
  readonly #output: Output;

  constructor(environment: Environment, output: Output = process.stdout) {
    this.#environment = environment;
    this.#output = output;
  }

  /** `webhook-endpoints list`. */
  async list(options: ApiOptions): Promise<void> {
    const answer = z.object({ data: z.array(endpoint), next_cursor: z.string().nullable() });
    const api = this.#api(options);
    const query = new URLSearchParams({ limit: String(PAGE) });
    for (;;) {
      const { data, next_cursor: more } = await api.call({ path: `${PATH}?${query.toString()}`, answer });
      if (data.length === 0) this.#say('There are no webhook endpoints.');
      for (const each of data) for (const line of endpointLines(each)) this.#say(line);
      if (more === null) return;
      query.set('cursor', more);
    }
  }

  /** `webhook-endpoints deliveries`. */
  async deliveries(id: string, { status, limit = '20', ...options }: DeliveriesOptions): Promise<void> {
    const query = new URLSearchParams({ limit, ...(status !== undefined && { status }) });
    const answer = z.object({ data: z.array(delivery), next_cursor: z.string().nullable() });
    const { data, next_cursor: more } = await this.#api(options).call({
      path: `${PATH}/${encodeURIComponent(id)}/deliveries?${query.toString()}`,
      answer,
    });
    if (data.length === 0) this.#say('There are no such deliveries.');
    for (const each of data) for (const line of deliveryLines(each)) this.#say(line);
    if (more !== null) this.#say(`There are older ones; use --limit, up to 100.`);
  }

  /** `webhook-endpoints replay`: repeats the call until everything is queued. */
  async replay(id: string, { event, delivery: one, since, until, which, ...options }: ReplayOptions): Promise<void> {
    if ([event, one, since].filter((each) => each !== undefined).length !== 1) {
      throw new UserError('Exactly one of --event, --delivery and --since is needed.', 'Give one of them.');
    }
    const api = this.#api(options);
    let queued = 0;
    for (let from = since; ;) {
      const body = { event_id: event, delivery_id: one, since: from, until, which };
      const answer = await api.call({
        path: `${PATH}/${encodeURIComponent(id)}/replay`,
        body,
        idempotencyKey: randomUUID(),
        answer: replayed,
      });
      queued += answer.queued;
      if (answer.next_since === null) break;
      from = answer.next_since;
    }
    this.#say(queued === 1 ? 'One delivery is queued.' : `${queued} deliveries are queued.`);
  }

  #api(options: ApiOptions): ApiClient {
    return new ApiClient(apiAccess(options, this.#environment));
  }

  #say(line: string): void {
    printLine(this.#output, line);
  }
}

function endpointLines({
  id,
  url,
  status,
  disabled_reason: reason,
  event_types: types,
  failing_since: since,
  failures,
  last_failure: last,
  missed_since: missed,
}: z.output<typeof endpoint>): string[] {
  return [
    `${id}  ${status}${reason === null ? '' : ` (${reason})`}  ${url}  ${types.join(',')}`,
    ...(since === null
      ? []
      : [`    failing since ${since}, ${failures} tries in a row; the last time ${last ?? 'for an unknown reason'}`]),
    ...(missed === null ? [] : [`    missed events since ${missed}`]),
  ];
}

function deliveryLines({
  id,
  event_id: eventId,
  event_type: type,
  status,
  tries,
  next_try_at: next,
  log,
}: z.output<typeof delivery>): string[] {
  return [
    `${id}  ${status}  ${type}  ${eventId}  ${tries} ${tries === 1 ? 'try' : 'tries'}` +
      (next === null ? '' : `, next at ${next}`),
    ...log.map((each) => {
      const excerpt =
        each.answer_excerpt === null ? '' : `  ${JSON.stringify(each.answer_excerpt.slice(0, EXCERPT_SHOWN))}`;
      return `    ${each.at}  ${each.status ?? each.failure ?? ''}  ${each.duration_ms} ms${excerpt}`;
    }),
  ];
}
