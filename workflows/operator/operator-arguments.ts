/** An operator may type any JSON, or nothing. Each function returns the error as a sentence, or undefined. */
import { isDecimal } from '#domain/money/money.ts';
import { caseVerdicts, MAX_ACTION_REASON, SERVICE_ID } from '#domain/operator/operator-actions.ts';
import {
  changesNothing,
  RETRY_CHANGE_BOUNDS,
  RETRY_CHANGE_FIELDS,
  waitsAreOrdered,
} from '#domain/retry/retry-change.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';

const CURRENCY = /^[A-Z]{3}$/;

type Fields = Readonly<Record<string, unknown>>;

export function objectProblem(input: unknown, example: object): string | undefined {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return undefined;
  return `The argument must be one JSON object, such as ${JSON.stringify(example)}.`;
}

export function actionProblem(input: unknown): string | undefined {
  const fields = fieldsOf(input);
  const missing = (['by', 'reason'] as const).find((name) => !isText(fields[name]));
  if (missing === undefined) return undefined;
  return (
    `Say who acts and why: {"by": "your name", "reason": "a reason"}, each with 1 to ${MAX_ACTION_REASON} ` +
    'characters and no NUL. ' +
    `This is wrong or missing: ${missing}.`
  );
}

export function limitProblem(input: unknown): string | undefined {
  const { max_price: limit } = fieldsOf(input);
  if (limit === null) return actionProblem(input);
  const { amount, currency } = fieldsOf(limit);
  const isPrice = typeof amount === 'string' && isDecimal(amount) && !amount.startsWith('-');
  if (isPrice && typeof currency === 'string' && CURRENCY.test(currency)) return actionProblem(input);
  return 'Give the limit as "max_price": {"amount": "12.50", "currency": "USD"}, or null for none.';
}

const { attempts: ATTEMPTS, seconds: SECONDS } = RETRY_CHANGE_BOUNDS;
/** RFC 3339 with an offset, as the API takes it. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** The API checks the same with zod, which the bundle of the workflows must not contain. */
export function retryPolicyProblem(input: unknown): string | undefined {
  const fields = fieldsOf(input);
  const { attempts, first_wait_seconds: first, longest_wait_seconds: longest, deadline } = fields;
  if (changesNothing(fields)) {
    return `Say what is to change: ${RETRY_CHANGE_FIELDS}; null removes an earlier change.`;
  }
  if (!isUnset(attempts) && !isWhole(attempts, ATTEMPTS))
    return `attempts must be a whole number from ${ATTEMPTS.min} to ${ATTEMPTS.max}, or null.`;
  for (const [name, value] of [
    ['first_wait_seconds', first],
    ['longest_wait_seconds', longest],
  ] as const) {
    if (!isUnset(value) && !isWhole(value, SECONDS))
      return `${name} must be a whole number from ${SECONDS.min} to ${SECONDS.max}, or null.`;
  }
  if (!waitsAreOrdered(fields)) return 'first_wait_seconds must not be more than longest_wait_seconds.';
  const isInstant = typeof deadline === 'string' && INSTANT.test(deadline) && !Number.isNaN(Date.parse(deadline));
  if (!isUnset(deadline) && !isInstant)
    return 'deadline must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z, or null.';
  return actionProblem(input);
}

export function resolutionProblem(input: unknown): string | undefined {
  const fields = fieldsOf(input);
  if (!isOneOf(fields['case'], Object.keys(ATTENTION_REASONS))) return oneOf('case', Object.keys(ATTENTION_REASONS));
  if (!isOneOf(fields['verdict'], caseVerdicts)) return oneOf('verdict', caseVerdicts);
  if (fields['next'] !== undefined && !isOneOf(fields['next'], NEXT)) return oneOf('next', NEXT);
  for (const name of ['service_id', 'service_esim_id'] as const) {
    const id = fields[name];
    if (id !== undefined && !(typeof id === 'string' && SERVICE_ID.test(id))) {
      return `${name} must have 1 to 128 visible ASCII characters.`;
    }
  }
  return actionProblem(input);
}

const NEXT = ['continue', 'abandon'];

function fieldsOf(input: unknown): Fields {
  return typeof input === 'object' && input !== null ? (input as Fields) : {};
}

function isText(value: unknown): boolean {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_ACTION_REASON) return false;
  return !value.includes('\0') && value.isWellFormed();
}

function isUnset(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isWhole(value: unknown, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function isOneOf(value: unknown, values: readonly string[]): boolean {
  return typeof value === 'string' && values.includes(value);
}

function oneOf(name: string, values: readonly string[]): string {
  return `${name} must be one of ${values.join(', ')}.`;
}
