import type * as z from 'zod';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import type { Expansion } from '#api/work/expand.ts';
import type { operationsOutput, workListQuery } from '#api/work/work-schemas.ts';
import type { WorkScopes } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkFilter } from '#db/work/work-reads.ts';
import type { CaseVerdict } from '#domain/operator/operator-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** What an operator needs beside what a shop sees. */
export type OperationsJson = z.input<typeof operationsOutput>;

/** Work with the operator's view; each kind adds fields. What of it a caller sees is decided by `expand.ts`. */
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
  /** Of a kind that has one. */
  readonly esim_id?: string | null;
  readonly operations: OperationsJson;
}

/** A field of the request that resolves a case: an id at the service. */
export interface ResolutionField {
  readonly field: `service_${string}_id`;
  readonly description: string;
}

/** Properties of a kind of work for the calls that all kinds share. */
export interface WorkResource {
  readonly kind: WorkKind;
  /** The name used in operation ids: `Order` in `getOrder`. */
  readonly name: string;
  /** Path of the list. */
  readonly path: `/v1/${string}`;
  readonly tag: string;
  readonly scopes: WorkScopes;
  readonly notFound: ProblemCode;
  /** The field with the caller's reference, and the problem of a used one. */
  readonly reference: {
    readonly field: string;
    readonly taken: ProblemCode;
    /**
     * True when a reference identifies one piece of work permanently; false when it may be used again after that has
     * ended.
     */
    readonly isForGood: boolean;
  };
  readonly output: z.ZodType;
  readonly example: { readonly id: string };
  /** What its answers embed on request, beside the operator's view. */
  readonly expansions: readonly Expansion[];
  /** Fields of a verdict with the ids of the purchase at the service. */
  readonly resolution: {
    readonly serviceId: ResolutionField;
    /** For a kind that delivers an eSIM. */
    readonly serviceEsimId?: ResolutionField;
    readonly example?: { readonly reason: string; readonly case: AttentionReason; readonly verdict: CaseVerdict };
  };
  /** The currency of the price of work, for a kind that has one; undefined while it is not known. */
  readonly priceCurrency?: (found: WorkJson) => Promise<string | undefined>;
  /** Reads work of the owner, redacted for a key that is limited to its own work. */
  find(db: Executor, id: string, owner: Owner): Promise<WorkJson | undefined>;
  /** As {@link find}, by one read of the database for all callers that wait. */
  findTogether(id: string, owner: Owner): Promise<WorkJson | undefined>;
}

/** The problem for an unknown id. */
export function notFound({ notFound: code }: WorkResource): Problem {
  return new Problem(code);
}

/** The part of a list's query that all kinds share. */
export function workFilter(query: z.output<z.ZodObject<ReturnType<typeof workListQuery<WorkStatus>>>>): WorkFilter {
  return {
    ids: query.id,
    statuses: query.status,
    failureClass: query.failure_class,
    attentionReason: query.attention,
    createdBy: query.created_by,
    metadata: query.metadata,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
  };
}
