/**
 * What a person types as the argument of an update is any JSON at all, or nothing. Each function says in a sentence what
 * is wrong with it, or returns undefined.
 */
import { ATTENTION_REASONS } from '#domain/attention.ts';
import { isDecimal } from '#domain/money.ts';
import { caseVerdicts, MAX_ACT_REASON, SERVICE_ID } from '#domain/operator-actions.ts';

const CURRENCY = /^[A-Z]{3}$/;

type Fields = Readonly<Record<string, unknown>>;

/** Every act: `{"by": …, "why": …}`. */
export function actProblem(input: unknown): string | undefined {
  const fields = fieldsOf(input);
  const missing = (['by', 'why'] as const).find((name) => !isText(fields[name]));
  if (missing === undefined) return undefined;
  return (
    `Say who acts and why: {"by": "your name", "why": "a reason"}, each with 1 to ${MAX_ACT_REASON} characters and no NUL. ` +
    `This is wrong or missing: ${missing}.`
  );
}

/** `changeLimit`: with `max_price`. */
export function limitProblem(input: unknown): string | undefined {
  const { max_price: limit } = fieldsOf(input);
  if (limit === null) return actProblem(input);
  const { amount, currency } = fieldsOf(limit);
  const isPrice = typeof amount === 'string' && isDecimal(amount) && !amount.startsWith('-');
  if (isPrice && typeof currency === 'string' && CURRENCY.test(currency)) return actProblem(input);
  return 'Give the limit as "max_price": {"amount": "12.50", "currency": "USD"}, or null for none.';
}

/** `resolve`: with `case`, `verdict` and, where it applies, ids of the service and `next`. */
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
  return actProblem(input);
}

const NEXT = ['continue', 'abandon'];

function fieldsOf(input: unknown): Fields {
  return typeof input === 'object' && input !== null ? (input as Fields) : {};
}

function isText(value: unknown): boolean {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_ACT_REASON) return false;
  return !value.includes('\0') && value.isWellFormed();
}

function isOneOf(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value);
}

function oneOf(name: string, words: readonly string[]): string {
  return `${name} must be one of ${words.join(', ')}.`;
}
