import * as z from 'zod';
import { UserError } from '#cli/user-error.ts';

/** An answer of our API that is not what was asked for. */
export class ApiError extends UserError {
  readonly status: number;

  constructor(status: number, text: string) {
    const problem = problemSchema.safeParse(jsonOf(text));
    const words = problem.success ? [problem.data.title, problem.data.detail].filter(Boolean).join(': ') : text.slice(0, 300);
    super(`The API answered ${status}: ${words}`, 'Its log says more.');
    this.name = 'ApiError';
    this.status = status;
  }
}

export interface ApiClientOptions {
  readonly url: string;
  readonly key: string;
  readonly signal?: AbortSignal;
}

export interface Call<Schema extends z.ZodType> {
  readonly path: string;
  readonly answer: Schema;
  /** Makes it a POST. */
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

const problemSchema = z.object({ title: z.string(), detail: z.string().optional() });
const ANSWER_TIMEOUT_MS = 15_000;

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
    const response = await reach(url, url + call.path, {
      method: call.body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    const text = await response.text();
    if (!response.ok) throw new ApiError(response.status, text);
    return call.answer.parse(jsonOf(text));
  }
}

async function reach(api: string, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UserError(`The API at ${api} does not answer.`, 'Start it with `npm start`, or name another with --api.', {
      cause: error,
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
