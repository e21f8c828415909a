import { instantJson } from '#api/fields/fields.ts';
import type { OperationsJson, WorkJson } from '#api/work/work-resource.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkRow } from '#db/work/rows.ts';
import type { AttemptSummary, TimelineRow } from '#db/work/work-reads.ts';
import { plainMoney } from '#domain/money/money.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { RETRY_OVERRIDES, givesUpAt, ruleOfWork } from '#domain/retry/retry-rules.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { adviceOf, describeStatus } from '#domain/work/status-text.ts';

export function workJson(
  kind: WorkKind,
  row: WorkRow,
  { attempts, attemptStates, inDoubt }: Omit<AttemptSummary, 'serviceId' | 'replacedBy'>,
) {
  return {
    max_price: plainMoney(row.maxPriceAmount, row.maxPriceCurrency),
    charged: plainMoney(row.chargedAmount, row.chargedCurrency),
    failure: failureJson(row, inDoubt),
    attention:
      row.attentionReason === null
        ? null
        : { reason: row.attentionReason, meaning: ATTENTION_REASONS[row.attentionReason].forCaller },
    deadline: instantJson(row.deadlineAt),
    metadata: row.metadata,
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    completed_at: instantJson(row.completedAt),
    operations: {
      attempts,
      attention: attentionJson(row),
      resubmission: resubmission({ kind, status: row.status, attempts: attemptStates, inDoubt }),
      next_step_at: instantJson(row.nextStepAt),
      retry_policy: retryPolicyJson(row),
    } satisfies OperationsJson,
  };
}

export function referenceJson(
  row: {
    readonly replacesId: string | null;
    readonly customerPrice: string | null;
    readonly customerPriceCurrency: string | null;
  },
  { replacedBy }: Pick<AttemptSummary, 'replacedBy'>,
) {
  return {
    customer_price: plainMoney(row.customerPrice, row.customerPriceCurrency),
    replaces: row.replacesId,
    replaced_by: replacedBy?.id ?? null,
  };
}

/** @param owner undefined: a key that sees everything. */
export function currentStateJson(
  kind: WorkKind,
  { status, failure, attention, operations: { next_step_at: nextAt, resubmission: again } }: WorkJson,
  owner: Owner,
) {
  // For finished work the verdict is "no" only while a case is open.
  const isInDoubt = again.verdict === 'no';
  const { now, reason, next } = describeStatus({
    kind,
    status,
    isTimed: nextAt !== null,
    failure: failure ?? undefined,
    // The texts of a case are for operators.
    attention: owner === undefined ? attention?.reason : undefined,
    isInDoubt,
  });
  const why = (owner === undefined ? undefined : attention?.meaning) ?? reason ?? null;
  return { now, reason: why, next, next_at: nextAt, resubmission: again };
}

const OVERRIDE_NAMES = {
  attempts: 'attempts',
  firstDelayMs: 'first_wait',
  maxDelayMs: 'longest_wait',
  deadlineAt: 'deadline',
} as const satisfies Record<(typeof RETRY_OVERRIDES)[number], string>;

/** Set by an operator, else the configured values that its workflow has stored. */
function retryPolicyJson({ retryRule, retryOverrides, extraAttempts, createdAt, deadlineAt }: WorkRow) {
  const overrides = retryOverrides ?? {};
  const rule = retryRule === null ? undefined : ruleOfWork(retryRule, overrides, extraAttempts);
  const { attempts, firstDelayMs, maxDelayMs } = rule ?? overrides;
  const givesUp =
    rule === undefined
      ? overrides.deadlineAt
      : givesUpAt({ acceptedAt: createdAt.getTime(), deadlineAt: deadlineAt?.getTime() }, rule, overrides);
  return {
    attempts: attempts ?? null,
    first_wait_seconds: secondsJson(firstDelayMs),
    longest_wait_seconds: secondsJson(maxDelayMs),
    gives_up_at: givesUp === undefined ? null : new Date(givesUp).toISOString(),
    changed: RETRY_OVERRIDES.filter((name) => overrides[name] !== undefined).map((name) => OVERRIDE_NAMES[name]),
  };
}

function secondsJson(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1_000;
}

export function timelineJson({ at, event, message, detail }: TimelineRow) {
  return { at: at.toISOString(), event, message, detail };
}

const IN_DOUBT =
  'Do not submit it again: a case about it is open, because it may have been bought or charged after all.';

function failureJson(
  {
    status,
    failureClass,
    failureDetail,
    serviceMessage,
    failureEnd,
    attentionReason,
  }: Pick<WorkRow, 'status' | 'failureClass' | 'failureDetail' | 'serviceMessage' | 'failureEnd' | 'attentionReason'>,
  inDoubt: boolean,
) {
  if (failureClass === null) return null;
  const { meaning } = FAILURE_CLASSES[failureClass];
  return {
    class: failureClass,
    detail: failureDetail,
    service_message: serviceMessage,
    ended_by: failureEnd,
    meaning,
    advice: inDoubt
      ? IN_DOUBT
      : adviceOf({ status, failure: failureClass, endedBy: failureEnd, attention: attentionReason }),
  };
}

function attentionJson({ attentionReason }: Pick<WorkRow, 'attentionReason'>) {
  if (attentionReason === null) return null;
  const { meaning, advice } = ATTENTION_REASONS[attentionReason];
  return { reason: attentionReason, meaning, advice };
}
