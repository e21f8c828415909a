/**
 * The conditions of an automatic refund (specification, States and transitions). The service decides, not the forecast.
 */
import { counted } from '#domain/text.ts';

export const REFUND_CONDITIONS = [
  'usage_is_zero',
  'never_installed',
  'never_activated',
  'no_completed_topup',
  'debit_verified',
] as const;
export type RefundConditionName = (typeof REFUND_CONDITIONS)[number];

export const ON_UNMET_CONDITIONS = ['refuse', 'ask_for_review', 'cancel_without_refund'] as const;
export type OnUnmetConditions = (typeof ON_UNMET_CONDITIONS)[number];

export interface RefundCondition {
  readonly name: RefundConditionName;
  readonly result: 'pass' | 'fail' | 'unknown';
  readonly evidence: string;
  /** Unix milliseconds; undefined when there is no evidence. */
  readonly asOf: number | undefined;
}

export type Evidence<Value> =
  | { readonly ok: true; readonly value: Value; readonly asOf: number }
  /** `mayPass`: a later read may succeed. False: this service never shows it. */
  | { readonly ok: false; readonly detail: string; readonly mayPass: boolean };

export interface RefundEvidence {
  readonly usage: Evidence<{ readonly dataUsedMb: number }>;
  readonly installation: Evidence<{
    readonly installedAt: number | undefined;
    readonly activatedAt: number | undefined;
  }>;
  readonly topups: Evidence<{ readonly completed: number }>;
  /** True when the wallet shows the debit of the order that delivered the eSIM. */
  readonly debit: Evidence<{ readonly found: boolean }>;
}

export function judgeRefundConditions({
  usage,
  installation,
  topups,
  debit,
}: RefundEvidence): readonly RefundCondition[] {
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
      completed === 0
        ? passes('No top-up of it is completed.')
        : fails(`It has ${counted(completed, 'completed top-up')}.`),
    ),
    judge('debit_verified', debit, ({ found }) =>
      found ? passes('The wallet shows what it cost.') : fails('The wallet does not show what it cost.'),
    ),
  ];
}

/** @param esimStatus before anything is sent. A cancelled eSIM is not refunded again. */
export function forecastRefund(
  conditions: readonly RefundCondition[],
  esimStatus?: string,
): 'refund_expected' | 'no_refund_expected' | 'unknown' {
  if (esimStatus === 'cancelled') return 'no_refund_expected';
  if (conditions.some(({ result }) => result === 'fail')) return 'no_refund_expected';
  return conditions.every(({ result }) => result === 'pass') ? 'refund_expected' : 'unknown';
}

type Verdict = Pick<RefundCondition, 'result' | 'evidence'>;

function judge<Value>(
  name: RefundConditionName,
  known: Evidence<Value>,
  verdict: (value: Value) => Verdict,
): RefundCondition {
  if (!known.ok) return { name, result: 'unknown', evidence: known.detail, asOf: undefined };
  return { name, ...verdict(known.value), asOf: known.asOf };
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
