import * as z from 'zod';
import { UserError } from '#cli/terminal/user-error.ts';
import { visible } from '#cli/terminal/visible-text.ts';

/** Where the API is, which key it is called with, and what a reader of an error has to know of both. */
export interface ApiAccess {
  readonly url: string;
  readonly key: string;
  /** Where the key comes from, in words: `RESELLER_API_KEY`, or a file. */
  readonly keyFrom: string;
  /** File of the API's log, where it runs beside us. */
  readonly log?: string;
}

export interface ApiClientOptions extends ApiAccess {
  readonly signal?: AbortSignal;
}

export interface Call<Schema extends z.ZodType> {
  readonly path: string;
  readonly answer: Schema;
  /** Makes it a POST. */
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

/** An answer of our API that is not what was asked for. */
export class ApiError extends UserError {
  readonly status: number;
  /** Our name for the kind of problem; undefined when something else than our API has answered. */
  readonly code: string | undefined;
  /** What the API says against it, without what it answered and where. */
  readonly reason: string;

  /** @param request method and path, for the person who looks it up. */
  constructor(request: string, status: number, text: string, access: ApiAccess) {
    const parsed = problemSchema.safeParse(jsonOf(text));
    const problem = parsed.success ? parsed.data : undefined;
    const reason = problem === undefined ? visible(text.slice(0, 300)) : reasonOf(problem);
    super(`The API answered ${status}: ${reason}`, adviceFor(status, request, problem, access));
    this.name = 'ApiError';
    this.status = status;
    this.code = problem?.code;
    this.reason = reason;
  }
}

/** What is wrong with each field stands in a line of its own. */
function reasonOf({ title, detail, errors }: Problem): string {
  const words = [title, detail].filter(Boolean).join(': ');
  return [words, ...errors.map((error) => `  - ${error.field || error.in}: ${error.message}`)].map(visible).join('\n');
}

function adviceFor(
  status: number,
  request: string,
  problem: Problem | undefined,
  { url, keyFrom, log }: ApiAccess,
): string {
  if (status === 401) {
    return (
      `It does not know the key that it was sent, which is that of ${keyFrom}. Name with --data the folder of the \`npm start\` ` +
      `that answers at ${url}, or put a valid key into RESELLER_API_KEY; \`npx reseller keys create\` makes one.`
    );
  }
  if (status === 403) return `The key is that of ${keyFrom}. Put one that has the scope into RESELLER_API_KEY.`;
  if (status < 500) return '';
  const id = problem?.request_id;
  return `The log of the API${log === undefined ? '' : ` (${log})`} says more of ${request}${id === undefined ? '' : `, request ${id}`}.`;
}

/** Our own REST API, as any of its users would call it. */
export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** @throws ApiError when the answer is an error; UserError when there is none. */
  async call<Schema extends z.ZodType>(call: Call<Schema>): Promise<z.output<Schema>> {
    const { url, key, signal } = this.#options;
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const method = call.body === undefined ? 'GET' : 'POST';
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
      'Start it with `npm start`, or say where it is: with --data the folder that another `npm start` runs on, or its address with --api.',
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
