import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { instantJson } from '#api/fields/fields.ts';
import type { Expansion } from '#api/work/expand.ts';
import type { operationsOutput } from '#api/work/work-schemas.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkRow } from '#db/work/rows.ts';
import type { AttemptSummary, StoredWork, WorkFilter, WorkReads } from '#db/work/work-reads.ts';
import { plainMoney } from '#domain/money/money.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { RETRY_OVERRIDES, givesUpAt, ruleOfWork } from '#domain/retry/retry-rules.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { adviceOf, describeStatus } from '#domain/work/status-text.ts';
import { together } from '#telemetry/waiting.ts';

/** Each kind adds fields. `expand.ts` decides what of it a caller sees. */
export interface WorkJson {
  readonly id: string;
  readonly status: WorkStatus;
  readonly failure: {
    readonly class: FailureClass;
    readonly detail: string | null;
    readonly service_message: string | null;
    readonly advice: string;
  } | null;
  readonly attention: { readonly reason: AttentionReason; readonly meaning: string } | null;
  readonly esim_id?: string | null;
  readonly operations: z.input<typeof operationsOutput>;
}

interface ResolutionField {
  readonly field: `service_${string}_id`;
  readonly description: string;
}

export interface WorkResource {
  readonly kind: WorkKind;
  /** `Order` in `getOrder`. */
  readonly name: string;
  readonly output: z.ZodType;
  readonly expansions: readonly Expansion[];
  readonly resolution: {
    readonly serviceId: ResolutionField;
    readonly serviceEsimId?: ResolutionField;
  };
  /** Undefined while it is not known. */
  readonly priceCurrency?: (found: WorkJson) => Promise<string | undefined>;
  /** Redacted for a key that is limited to its own work. */
  find(db: Executor, id: string, owner: Owner): Promise<WorkJson | undefined>;
  /** By one read of the database for all callers that wait. */
  findTogether(id: string, owner: Owner): Promise<WorkJson | undefined>;
}

export function findersOf<Stored extends StoredWork>(
  { database }: Pick<ApiDependencies, 'database'>,
  reads: WorkReads<Stored, WorkFilter>,
  show: (stored: Stored, owner: Owner) => WorkJson,
): Pick<WorkResource, 'find' | 'findTogether'> {
  const findTogether = together<{ readonly id: string; readonly owner: Owner }, Stored | undefined>(async (asked) =>
    database.run(async (db) => {
      const found = new Map<Owner, ReadonlyMap<string, Stored>>();
      for (const [owner, ofOwner] of Map.groupBy(asked, (each) => each.owner)) {
        const ids = [...new Set(ofOwner.map(({ id }) => id))];
        const rows = await reads.page(db, owner, { ids }, { limit: ids.length, after: undefined });
        found.set(owner, new Map(rows.map((stored) => [stored.row.id, stored])));
      }
      return ({ id, owner }) => found.get(owner)?.get(id);
    }),
  );
  return {
    find: async (db, id, owner) => {
      const stored = await reads.find(db, id, owner);
      return stored && show(stored, owner);
    },
    findTogether: async (id, owner) => {
      const stored = await findTogether({ id, owner });
      return stored && show(stored, owner);
    },
  };
}

export function workJson(
  kind: WorkKind,
  row: WorkRow,
  { attempts, attemptStates, inDoubt }: Omit<AttemptSummary, 'serviceId' | 'replacedBy'>,
) {
  const { attentionReason: reason } = row;
  return {
    max_price: plainMoney(row.maxPriceAmount, row.maxPriceCurrency),
    charged: plainMoney(row.chargedAmount, row.chargedCurrency),
    failure: failureJson(row, inDoubt),
    attention: reason && { reason, meaning: ATTENTION_REASONS[reason].forCaller },
    deadline: instantJson(row.deadlineAt),
    metadata: row.metadata,
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    completed_at: instantJson(row.completedAt),
    operations: {
      attempts,
      attention: reason && {
        reason,
        meaning: ATTENTION_REASONS[reason].meaning,
        advice: ATTENTION_REASONS[reason].advice,
      },
      resubmission: resubmission({ kind, status: row.status, attempts: attemptStates, inDoubt }),
      next_step_at: instantJson(row.nextStepAt),
      retry_policy: retryPolicyJson(row),
    } satisfies WorkJson['operations'],
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

const IN_DOUBT =
  'Do not submit it again: a case about it is open, because it may have been bought or charged after all.';

function failureJson(
  { status, failureClass, failureDetail, serviceMessage, failureEnd, attentionReason }: WorkRow,
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
