/**
 * The five conditions of an automatic refund (specification, States and transitions) as far as we can see them. A
 * forecast: whether they hold is for the service and its supplier to say.
 */

export const REFUND_CONDITIONS = [
  'usage_is_zero',
  'never_installed',
  'never_activated',
  'no_completed_topup',
  'debit_verified',
] as const;
export type RefundConditionName = (typeof REFUND_CONDITIONS)[number];

export type ConditionResult = 'pass' | 'fail' | 'unknown';

/** One condition, what it is judged by, and when that was read. */
export interface RefundCondition {
  readonly name: RefundConditionName;
  readonly result: ConditionResult;
  /** A sentence for the reader. */
  readonly evidence: string;
  /** Epoch milliseconds of what the evidence rests on; undefined where there is none. */
  readonly asOf: number | undefined;
}

/** What was read, or why it could not be: then `detail` says so. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value; readonly asOf: number }
  /** `mayPass`: a later read may show it; else this service never does. */
  | { readonly ok: false; readonly detail: string; readonly mayPass: boolean };

/** Everything that the conditions are judged by. */
export interface RefundFacts {
  readonly usage: Reading<{ readonly dataUsedMb: number }>;
  readonly installation: Reading<{
    readonly installedAt: number | undefined;
    readonly activatedAt: number | undefined;
  }>;
  /** How many top-ups of the eSIM are completed, by our own rows and by the service's list together. */
  readonly topups: Reading<{ readonly completed: number }>;
  /** Whether the wallet shows the debit of the order that the eSIM came from. */
  readonly debit: Reading<{ readonly found: boolean }>;
}

/** What the conditions come to: the refund is automatic only when all of them hold. */
export type RefundForecast = 'refund_expected' | 'no_refund_expected' | 'unknown';

/** Judges all five conditions, in the order of the specification. */
export function judgeRefundConditions({ usage, installation, topups, debit }: RefundFacts): readonly RefundCondition[] {
  return [
    judge('usage_is_zero', usage, ({ dataUsedMb }) =>
      dataUsedMb === 0 ? passes('No data was used.') : fails(`${dataUsedMb} MB were used.`),
    ),
    judge('never_installed', installation, ({ installedAt }) =>
      installedAt === undefined
        ? passes('It was never installed.')
        : fails(`It was installed at ${timeOf(installedAt)}.`),
    ),
    judge('never_activated', installation, ({ activatedAt }) =>
      activatedAt === undefined
        ? passes('It was never activated.')
        : fails(`It was activated at ${timeOf(activatedAt)}.`),
    ),
    judge('no_completed_topup', topups, ({ completed }) =>
      completed === 0 ? passes('No top-up of it is completed.') : fails(`${completed} of its top-ups are completed.`),
    ),
    judge('debit_verified', debit, ({ found }) =>
      found ? passes('The wallet shows what it cost.') : fails('The wallet does not show what it cost.'),
    ),
  ];
}

/**
 * One condition that fails is enough for no refund; one that is unknown leaves it open.
 *
 * @param esimStatus what the service says of the eSIM before anything is sent: what somebody has cancelled already is
 *   not cancelled again.
 */
export function forecastRefund(conditions: readonly RefundCondition[], esimStatus?: string): RefundForecast {
  if (esimStatus === 'cancelled') return 'no_refund_expected';
  if (conditions.some(({ result }) => result === 'fail')) return 'no_refund_expected';
  return conditions.every(({ result }) => result === 'pass') ? 'refund_expected' : 'unknown';
}

interface Verdict {
  readonly result: ConditionResult;
  readonly evidence: string;
}

function judge<Value>(
  name: RefundConditionName,
  reading: Reading<Value>,
  verdict: (value: Value) => Verdict,
): RefundCondition {
  if (!reading.ok) return { name, result: 'unknown', evidence: reading.detail, asOf: undefined };
  return { name, ...verdict(reading.value), asOf: reading.asOf };
}

function passes(evidence: string): Verdict {
  return { result: 'pass', evidence };
}

function fails(evidence: string): Verdict {
  return { result: 'fail', evidence };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
