import {
  ActivityFailure,
  ApplicationFailure,
  currentUpdateInfo,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { isDecimal } from '#domain/money/money.ts';
import {
  caseVerdicts,
  MAX_ACTION_REASON,
  type OperatorAction,
  REFUSALS,
  SERVICE_ID,
} from '#domain/operator/operator-actions.ts';
import type { PurchaseActivities } from '#domain/purchase/results.ts';
import {
  changesNothing,
  RETRY_CHANGE_BOUNDS,
  RETRY_CHANGE_FIELDS,
  waitsAreOrdered,
  retryChangeOf,
} from '#domain/retry/retry-change.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { HANDLER_DESCRIPTIONS, HANDLER_EXAMPLES } from '#workflows/handler-descriptions.ts';
import {
  abandonUpdate,
  ACTION_REFUSED,
  changeLimitUpdate,
  changeRetryPolicyUpdate,
  releaseUpdate,
  resolveUpdate,
  retryUpdate,
  type ActionBy,
  type Explanation,
} from '#workflows/messages.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/options.ts';
import { explanationOf } from '#workflows/run/display.ts';
import type { Run } from '#workflows/run/run.ts';

/**
 * Not a local activity: several handlers may each have one in a workflow task, and a replay could finish them in
 * another order than the timer that the first action ends.
 */
function actOnWork(input: Parameters<PurchaseActivities['actOnWork']>[0]): Promise<unknown> {
  const activities = proxyActivities<Pick<PurchaseActivities, 'actOnWork'>>({
    startToCloseTimeout: '20s',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '200ms', maximumInterval: '20s' },
    summary: `Carry out the operator's ${actionText(input.action)}`,
  });
  return activities.actOnWork(input);
}

/** Without the operator's name and reason. */
function actionText(action: OperatorAction): string {
  return action.action === 'resolve' ? `verdict ${action.verdict} (${action.reason})` : `action ${action.action}`;
}

/**
 * The activity applies the same rules and audit record as the API. The validator refuses what it can without
 * PostgreSQL; that leaves no event in the history.
 */
export function handleOperatorUpdates(run: Run): void {
  const perform = async (by: ActionBy, action: OperatorAction): Promise<Explanation> => {
    const actionId = currentUpdateInfo()?.id;
    if (actionId === undefined) throw new Error('an operator acts by an update');
    await actOnWork({
      work: run.work,
      action,
      operator: { actor: `temporal/${by.by}`, reason: by.reason, actionId },
    }).catch((error: unknown) => {
      // The operator must read the reason, not that an activity failed.
      throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
    });
    // The wait under way ends.
    run.actions += 1;
    return explanationOf(run.work, run.shown);
  };
  const validated = (name: keyof typeof HANDLER_EXAMPLES, problem: (input: unknown) => string | undefined) => ({
    description: HANDLER_DESCRIPTIONS[name],
    validator: (input: unknown) => {
      const wrong = objectProblem(input, HANDLER_EXAMPLES[name]) ?? problem(input);
      if (wrong !== undefined) refuse(wrong);
      const { status } = run.shown;
      if (isFinal(status)) refuse(`${REFUSALS.already_ended} (${status})`);
    },
  });
  setHandler(retryUpdate, (by) => perform(by, { action: 'retry' }), validated('retry', actionProblem));
  setHandler(releaseUpdate, (by) => perform(by, { action: 'release' }), validated('release', actionProblem));
  setHandler(abandonUpdate, (by) => perform(by, { action: 'abandon' }), validated('abandon', actionProblem));
  setHandler(
    changeLimitUpdate,
    (by) => perform(by, { action: 'change_limit', maxPrice: by.max_price }),
    validated('changeLimit', limitProblem),
  );
  setHandler(
    changeRetryPolicyUpdate,
    (by) => perform(by, { action: 'change_retry', change: retryChangeOf(by) }),
    validated('changeRetryPolicy', retryPolicyProblem),
  );
  setHandler(
    resolveUpdate,
    (by) =>
      perform(by, {
        action: 'resolve',
        reason: by.case,
        verdict: by.verdict,
        ...(by.service_id !== undefined && { serviceId: by.service_id }),
        ...(by.service_esim_id !== undefined && { serviceEsimId: by.service_esim_id }),
        ...(by.next !== undefined && { next: by.next }),
      }),
    validated('resolve', resolutionProblem),
  );
}

function refuse(message: string): never {
  throw ApplicationFailure.nonRetryable(message, ACTION_REFUSED);
}

// An operator may type any JSON, or nothing. Each function returns the error as a sentence, or undefined.

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
