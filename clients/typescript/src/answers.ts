import { NoAnswerError, ProblemError } from './errors.ts';
import type { Problem } from './types.ts';

/** What the errors of a call name. */
export interface Asked {
  /** Where it went. */
  readonly origin: string;
  readonly idempotencyKey: string | undefined;
}

/** Reads the whole of an answer that says that it went well; undefined when it is none of the API. Throws when it breaks off. */
export type Read<Value> = (answer: Response) => Promise<{ readonly value: Value } | undefined>;

/** What came of one try. */
export type Outcome<Value> = { readonly value: Value } | { readonly failure: ProblemError | NoAnswerError };

/** Every answer of the API in JSON is an object. */
export async function readJson(answer: Response): Promise<{ readonly value: object } | undefined> {
  const value = parseJson(await answer.text());
  return typeof value === 'object' && value !== null ? { value } : undefined;
}

export async function readText(answer: Response): Promise<{ readonly value: string } | undefined> {
  const value = await answer.text();
  return isPage(answer) ? undefined : { value };
}

export async function readBytes(answer: Response): Promise<{ readonly value: Uint8Array } | undefined> {
  const value = new Uint8Array(await answer.arrayBuffer());
  return isPage(answer) ? undefined : { value };
}

/** No answer came; or it began (`answer`), and broke off. */
export function noAnswer({ origin, idempotencyKey }: Asked, cause: unknown, answer?: Response): NoAnswerError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (answer === undefined) return new NoAnswerError(`no answer from ${origin}: ${reason}`, { cause, idempotencyKey });
  const options = { status: answer.status, retryAfterMs: retryAfter(answer), cause, idempotencyKey };
  return new NoAnswerError(`${answer.status} from ${origin}, and the answer broke off: ${reason}`, options);
}

/** It says that it went well, and is no answer of the API. */
export function foreign(
  { status, headers }: Response,
  { origin, idempotencyKey }: Asked,
  wanted: string,
): NoAnswerError {
  const type = headers.get('Content-Type') ?? 'no type';
  return new NoAnswerError(`${status} from ${origin} with ${type} instead of ${wanted}: something else answered`, {
    status,
    idempotencyKey,
  });
}

export async function refusal(answer: Response, asked: Asked): Promise<ProblemError | NoAnswerError> {
  const text = await answer.text().catch((cause: unknown) => noAnswer(asked, cause, answer));
  if (text instanceof NoAnswerError) return text;
  const body = parseJson(text);
  const { status } = answer;
  const retryAfterMs = retryAfter(answer);
  const { origin, idempotencyKey } = asked;
  if (isProblemBody(body)) return new ProblemError(body, retryAfterMs, idempotencyKey);
  return new NoAnswerError(`${status} from ${origin}, and not as a problem: something else answered`, {
    status,
    retryAfterMs,
    idempotencyKey,
  });
}

/** The API shows none to a caller with a key; a proxy that is being repaired does, with 200. */
function isPage({ headers }: Response): boolean {
  return headers.get('Content-Type')?.startsWith('text/html') ?? false;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Gateways have a `code` and a `status` too, as other things than ours. */
function isProblemBody(body: unknown): body is Problem {
  if (typeof body !== 'object' || body === null || !('code' in body && 'status' in body && 'request_id' in body))
    return false;
  return typeof body.code === 'string' && typeof body.status === 'number' && typeof body.request_id === 'string';
}

/** Only of refusals: with `202` it says when to look at what was begun. */
function retryAfter({ ok, headers }: Response): number | undefined {
  const header = ok ? null : headers.get('Retry-After');
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return 1_000 * Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
