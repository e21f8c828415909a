import * as z from 'zod';
import { type ApiAccess, type ApiOptions, apiAccess } from '#cli/api/api-access.ts';
import { type Output, printLine } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { visible } from '#cli/terminal/visible-text.ts';
import { NoAnswerError, ProblemError } from '#clients/typescript/src/errors.ts';
import { type Page, Paged } from '#clients/typescript/src/paged.ts';
import { Transport } from '#clients/typescript/src/transport.ts';
import type { Environment } from '#config/environment.ts';

const problemSchema = z.object({
  code: z.string().optional(),
  title: z.string(),
  detail: z.string().optional(),
  request_id: z.string().optional(),
  errors: z.array(z.object({ in: z.string(), field: z.string(), message: z.string() })).default([]),
});
type Problem = z.output<typeof problemSchema>;

export const PAGE = 100;
/** A person waits: fewer retries than a shop makes. */
const RETRIES = 2;

export class ApiError extends UserError {
  readonly status: number;
  /** Undefined when something else than our API has answered. */
  readonly code: string | undefined;
  readonly reason: string;

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

/** Names the first error of a field; several errors are on lines of their own. */
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

export class ApiClient {
  readonly #access: ApiAccess;
  readonly #transport: Transport;
  readonly #signal: AbortSignal | undefined;
  #request = '';

  constructor(access: ApiAccess, signal?: AbortSignal) {
    this.#access = access;
    this.#signal = signal;
    this.#transport = new Transport({
      baseUrl: access.url,
      apiKey: access.key,
      retries: RETRIES,
      onResponse: ({ method, path }) => (this.#request = `${method} ${path}`),
    });
  }

  /** @throws as {@link ask}. */
  async call<Schema extends z.ZodType>({
    path,
    answer,
    body,
    method = body === undefined ? 'GET' : 'POST',
    idempotencyKey,
  }: {
    readonly path: string;
    readonly answer: Schema;
    readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
    readonly body?: unknown;
    readonly idempotencyKey?: string;
  }): Promise<z.output<Schema>> {
    const options = {
      ...(this.#signal !== undefined && { signal: this.#signal }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    const keyed = idempotencyKey !== undefined;
    return answer.parse(
      await this.ask((transport) => transport.json({ operation: path, method, path, body, keyed, options })),
    );
  }

  async all<Item extends z.ZodType>(path: string, query: object, item: Item): Promise<z.output<Item>[]> {
    const pages = new Paged((cursor) =>
      this.ask((transport) =>
        transport.json<Page<unknown>>({
          operation: path,
          method: 'GET',
          path,
          query: { limit: PAGE, ...query, ...cursor },
          options: {},
        }),
      ),
    );
    return z.array(item).parse(await pages.take(Number.POSITIVE_INFINITY));
  }

  /** @throws ApiError for a refusal, UserError for a lost answer. */
  async ask<Result>(calls: (transport: Transport) => Promise<Result>): Promise<Result> {
    try {
      return await calls(this.#transport);
    } catch (error) {
      if (error instanceof ProblemError)
        throw new ApiError(this.#request, error.status, JSON.stringify(error.problem), this.#access, { cause: error });
      if (error instanceof NoAnswerError) throw noAnswerFrom(this.#access.url, error);
      throw error;
    }
  }
}

export class ApiCommands {
  protected readonly environment: Environment;
  protected readonly output: Output;

  constructor(environment: Environment, output: Output = process.stdout) {
    this.environment = environment;
    this.output = output;
  }

  protected api(options: ApiOptions): ApiClient {
    return new ApiClient(apiAccess(options, this.environment));
  }

  protected say(line: string): void {
    printLine(this.output, line);
  }
}

function noAnswerFrom(api: string, cause: NoAnswerError): UserError {
  const message = cause.status === undefined ? `The API at ${api} does not answer.` : `${cause.message}.`;
  return new UserError(
    message,
    'Start it with `npm start`. If it runs elsewhere, give the data folder with --data, or the address with --api.',
    { cause },
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
