import type * as z from 'zod';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import type { workListQuery } from '#api/work/work-schemas.ts';
import type { ApiScope } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkFilter } from '#db/work/work-queries.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { CaseVerdict } from '#domain/work/operator-actions.ts';
import type { Resubmission } from '#domain/work/resubmission.ts';

/** Work as the API shows it; each kind adds to it. */
export interface WorkJson {
  readonly status: WorkStatus;
  readonly next_step_at: string | null;
  readonly failure: { readonly class: FailureClass; readonly detail: string | null } | null;
  readonly attention: { readonly reason: AttentionReason } | null;
  readonly resubmission: Resubmission;
}

/** A field of the request that resolves a case: an id at the service. */
export interface ResolutionField {
  readonly field: `service_${string}_id`;
  readonly description: string;
}

/** What the calls that all kinds of work share must know of one kind. */
export interface WorkResource {
  readonly kind: WorkKind;
  /** The name used in operation ids: `Order` in `getOrder`. */
  readonly name: string;
  /** Of the list. */
  readonly path: `/v1/${string}`;
  readonly tag: string;
  readonly scopes: { readonly read: ApiScope; readonly write: ApiScope; readonly operate: ApiScope };
  readonly notFound: ProblemCode;
  /** The field with the caller's own reference, and the problem that it is taken. */
  readonly reference: {
    readonly field: string;
    readonly taken: ProblemCode;
    /**
     * True when a value of it stands for one piece of work for good; false when it may stand for another once that has
     * ended.
     */
    readonly isForGood: boolean;
  };
  readonly output: z.ZodType;
  readonly example: { readonly id: string };
  /** How a verdict on an open case names what the service made. */
  readonly resolution: {
    readonly serviceId: ResolutionField;
    /** Of a kind that delivers an eSIM. */
    readonly serviceEsimId?: ResolutionField;
    readonly example?: { readonly reason: string; readonly case: AttentionReason; readonly verdict: CaseVerdict };
  };
  /** Reads one that is the owner's, redacted for a key that is limited to its own work. */
  find(db: Executor, id: string, owner: Owner): Promise<WorkJson | undefined>;
}

/** The problem that there is none with this id. */
export function notFound({ notFound: code }: WorkResource): Problem {
  return new Problem(code);
}

/** The part of a list's query that all kinds share. */
export function workFilter(query: z.output<z.ZodObject<ReturnType<typeof workListQuery<WorkStatus>>>>): WorkFilter {
  return {
    statuses: query.status,
    failureClass: query.failure_class,
    attentionReason: query.attention,
    createdBy: query.created_by,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
  };
}
