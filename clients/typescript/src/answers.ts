import { NoAnswerError, ProblemError } from './errors.ts';
import type { Problem } from './types.ts';

export interface Asked {
  readonly origin: string;
  readonly idempotencyKey: string | undefined;
}

/** Undefined when it does not come from the API. Throws when the answer breaks off. */
export type Read<Value> = (answer: Response) => Promise<{ readonly value: Value } | undefined>;

export type Outcome<Value> = { readonly value: Value } | { readonly failure: ProblemError | NoAnswerError };

/** Every JSON answer of the API is an object. */
export async function readJson(answer: Response): Promise<{ readonly value: object } | undefined> {
  const value = parseJson(await answer.text());
  return typeof value === 'object' && value !== null ? { value } : undefined;
}

export async function readText(answer: Response): Promise<{ readonly value: string } | undefined> {
  // `text()` would drop the byte order mark that a file was asked for with.
  const value = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer());
  return isPage(answer) ? undefined : { value };
}

export async function readBytes(answer: Response): Promise<{ readonly value: Uint8Array } | undefined> {
  const value = new Uint8Array(await answer.arrayBuffer());
  return isPage(answer) ? undefined : { value };
}

/** Without an answer, or when it broke off. */
export function noAnswer({ origin, idempotencyKey }: Asked, cause: unknown, answer?: Response): NoAnswerError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (answer === undefined) return new NoAnswerError(`no answer from ${origin}: ${reason}`, { cause, idempotencyKey });
  const options = { status: answer.status, retryAfterMs: retryAfter(answer), cause, idempotencyKey };
  return new NoAnswerError(`${answer.status} from ${origin}, and the answer broke off: ${reason}`, options);
}

/** For a successful answer that does not come from the API. */
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

/** A NoAnswerError when the refusal breaks off or does not come from the API. */
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

/** The API sends no page to callers with a key; a proxy under maintenance does, with 200. */
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

/** Other gateways also send `code` and `status`, with other meanings. */
function isProblemBody(body: unknown): body is Problem {
  if (typeof body !== 'object' || body === null) return false;
  const { code, status, title, request_id: id, errors } = body as Readonly<Record<string, unknown>>;
  const isList = errors === undefined || Array.isArray(errors);
  return [code, title, id].every((text) => typeof text === 'string') && typeof status === 'number' && isList;
}

/** With `202`, Retry-After says when to read the created resource. */
function retryAfter({ ok, headers }: Response): number | undefined {
  const header = ok ? null : headers.get('Retry-After');
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return 1_000 * Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
