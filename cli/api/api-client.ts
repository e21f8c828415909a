import { type ApiAccess, type ApiOptions, apiAccess } from '#cli/api/api-access.ts';
import { visible } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { NoAnswerError, ProblemError } from '#clients/typescript/src/errors.ts';
import { type Page, Paged } from '#clients/typescript/src/paged.ts';
import { type Call, Transport } from '#clients/typescript/src/transport.ts';
import type { Problem } from '#clients/typescript/src/types.ts';
import type { Environment } from '#config/environment.ts';

export const PAGE = 100;
/** A person waits: fewer retries than a shop makes, */
const RETRIES = 2;
/** and one time limit for all of them. */
const WITHIN_MS = 30_000;

interface ClientOptions {
  readonly signal?: AbortSignal | undefined;
  /** For one call with its retries; the wait that it asks for is added. */
  readonly withinMs?: number;
}

export class ApiError extends UserError {
  readonly status: number;
  readonly code: Problem['code'];
  readonly reason: string;

  constructor(request: string, problem: Problem, access: ApiAccess, options?: ErrorOptions) {
    const reason = reasonOf(problem);
    super(`The API answered ${problem.status}: ${reason}`, adviceFor(request, problem, access), options);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.reason = reason;
  }
}

/** Names the first error of a field; several errors are on lines of their own. */
function reasonOf({ title, detail, errors = [] }: Problem): string {
  const listed = detail === undefined || errors.length > 1 ? errors : [];
  return [detail ?? title, ...listed.map((error) => `  - ${error.field || error.in}: ${error.message}`)]
    .map(visible)
    .join('\n');
}

function adviceFor(request: string, { status, request_id: id }: Problem, { url, keyFrom, log }: ApiAccess): string {
  if (status === 401) {
    return (
      `The API does not accept the key of ${keyFrom}. Give with --data the folder of the \`npm start\` that serves ` +
      `${url}, or set RESELLER_API_KEY to a valid key; \`npx reseller keys create\` makes one.`
    );
  }
  if (status === 403) return `The key of ${keyFrom} lacks the scope. Set RESELLER_API_KEY to a key that has it.`;
  if (status < 500) return '';
  return `See the log of the API${log === undefined ? '' : ` (${log})`} for ${request}, request ${visible(id)}.`;
}

type Asked = Pick<Call, 'path'> &
  Partial<Omit<Call, 'method'>> & {
    /** Default: POST with a body, else GET. */
    readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  };

export class ApiClient {
  readonly #access: ApiAccess;
  readonly #transport: Transport;
  readonly #signal: AbortSignal | undefined;
  readonly #withinMs: number;
  #request = '';
  /** Undefined: nothing has answered the present call. */
  #status: number | undefined;

  constructor(access: ApiAccess, { signal, withinMs = WITHIN_MS }: ClientOptions = {}) {
    this.#access = access;
    this.#signal = signal;
    this.#withinMs = withinMs;
    this.#transport = new Transport({
      baseUrl: access.url,
      apiKey: access.key,
      retries: RETRIES,
      onResponse: ({ method, path, status }) => {
        this.#request = `${method} ${path}`;
        this.#status = status;
      },
    });
  }

  /** @throws as in {@link ask}. */
  async call<Answer>(call: Asked): Promise<Answer> {
    const method = call.body === undefined ? 'GET' : 'POST';
    return this.send('json', { operation: call.path, method, options: {}, ...call });
  }

  async all<Item>(path: string, query: object): Promise<Item[]> {
    const pages = new Paged<Item>((cursor) =>
      this.call<Page<Item>>({ path, query: { limit: PAGE, ...query, ...cursor } }),
    );
    return pages.take(Number.POSITIVE_INFINITY);
  }

  /** @throws as in {@link ask}. */
  async send<Answer>(as: 'json' | 'text' | 'bytes', call: Call): Promise<Answer> {
    const { wait = 0 }: { readonly wait?: number } = { ...call.query, ...call.options };
    const limit = AbortSignal.timeout(this.#withinMs + 1_000 * wait);
    this.#status = undefined;
    const signal = this.#signal === undefined ? limit : AbortSignal.any([limit, this.#signal]);
    try {
      return await this.ask(async (transport) => {
        return (await transport[as]({ ...call, options: { ...call.options, signal } })) as Answer;
      });
    } catch (error) {
      if (limit.aborted && error === limit.reason)
        throw this.#status === undefined ? noAnswerFrom(this.#access.url) : askedToWait(this.#status);
      throw error;
    }
  }

  /** @throws ApiError for a refusal, UserError for a lost answer. */
  async ask<Result>(calls: (transport: Transport) => Promise<Result>): Promise<Result> {
    try {
      return await calls(this.#transport);
    } catch (error) {
      if (error instanceof ProblemError)
        throw new ApiError(this.#request, error.problem, this.#access, { cause: error });
      if (error instanceof NoAnswerError) throw noAnswerFrom(this.#access.url, error);
      throw error;
    }
  }
}

export function apiClient(options: ApiOptions, environment: Environment, limits: ClientOptions = {}): ApiClient {
  return new ApiClient(apiAccess(options, environment), limits);
}

function askedToWait(status: number): UserError {
  return new UserError(
    `The API answered ${status} and asks to repeat the call later.`,
    'Repeat the command in a minute.',
  );
}

function noAnswerFrom(api: string, cause?: NoAnswerError): UserError {
  const message = cause?.status === undefined ? `The API at ${api} does not answer.` : `${cause.message}.`;
  return new UserError(
    message,
    'Start it with `npm start`. If it runs elsewhere, give the data folder with --data, or the address with --api.',
    { cause },
  );
}
