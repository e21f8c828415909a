import * as z from 'zod';
import { UserError } from '#cli/terminal/user-error.ts';
import { visible } from '#cli/terminal/visible-text.ts';

/** Address and key of the API, and where both come from: error messages name it. */
export interface ApiAccess {
  readonly url: string;
  readonly key: string;
  /** Source of the key: `RESELLER_API_KEY`, or a file. */
  readonly keyFrom: string;
  /** Log file of the API, where it runs on this machine. */
  readonly log?: string;
}

export interface ApiClientOptions extends ApiAccess {
  readonly signal?: AbortSignal;
}

export interface Call<Schema extends z.ZodType> {
  readonly path: string;
  readonly answer: Schema;
  /** Default: POST with a body, GET without. */
  readonly method?: 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

const problemSchema = z.object({
  code: z.string().optional(),
  title: z.string(),
  detail: z.string().optional(),
  request_id: z.string().optional(),
  errors: z.array(z.object({ in: z.string(), field: z.string(), message: z.string() })).default([]),
});
type Problem = z.output<typeof problemSchema>;

const ANSWER_TIMEOUT_MS = 15_000;

/** An error answer of the API. */
export class ApiError extends UserError {
  readonly status: number;
  /** Stable code of the problem; undefined when something else than our API has answered. */
  readonly code: string | undefined;
  /** Title and detail of the problem, without the status. */
  readonly reason: string;

  /** @param request method and path. */
  constructor(request: string, status: number, text: string, access: ApiAccess, options?: ErrorOptions) {
    const parsed = problemSchema.safeParse(jsonOf(text));
    const problem = parsed.success ? parsed.data : undefined;
    const reason = problem === undefined ? visible(text.slice(0, 300)) : reasonOf(problem);
    super(`The API answered ${status}: ${reason}`, adviceFor(status, request, problem, access), options);
    this.name = 'ApiError';
    this.status = status;
    this.code = problem?.code;
    this.reason = reason;
  }
}

/** The sentence of the problem. It names the first error of a field; several errors are on lines of their own. */
function reasonOf({ title, detail, errors }: Problem): string {
  const listed = detail === undefined || errors.length > 1 ? errors : [];
  return [detail ?? title, ...listed.map((error) => `  - ${error.field || error.in}: ${error.message}`)]
    .map(visible)
    .join('\n');
}

function adviceFor(
  status: number,
  request: string,
  problem: Problem | undefined,
  { url, keyFrom, log }: ApiAccess,
): string {
  if (status === 401) {
    return (
      `The API does not accept the key of ${keyFrom}. Give with --data the folder of the \`npm start\` that serves ` +
      `${url}, or set RESELLER_API_KEY to a valid key; \`npx reseller keys create\` makes one.`
    );
  }
  if (status === 403) return `The key of ${keyFrom} lacks the scope. Set RESELLER_API_KEY to a key that has it.`;
  if (status < 500) return '';
  const id = problem?.request_id;
  const where = `${request}${id === undefined ? '' : `, request ${visible(id)}`}`;
  return `See the log of the API${log === undefined ? '' : ` (${log})`} for ${where}.`;
}

/** A client of our REST API. */
export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** @throws ApiError for an error answer; UserError when the API cannot be reached. */
  async call<Schema extends z.ZodType>(call: Call<Schema>): Promise<z.output<Schema>> {
    const { url, key, signal } = this.#options;
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const method = call.method ?? (call.body === undefined ? 'GET' : 'POST');
    const response = await reach(url, url + call.path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    const text = await response.text();
    if (!response.ok) throw new ApiError(`${method} ${call.path}`, response.status, text, this.#options);
    return call.answer.parse(jsonOf(text));
  }
}

async function reach(api: string, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UserError(
      `The API at ${api} does not answer.`,
      'Start it with `npm start`. If it runs elsewhere, give the data folder with --data, or the address with --api.',
      { cause: error },
    );
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
