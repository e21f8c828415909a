import type * as z from 'zod';
import { workFor } from '#api/access/redact-for-owner.ts';
import type { Reply } from '#api/http/reply.ts';
import { positionCursor, readPositionCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import type { workListQuery } from '#api/work/work-schemas.ts';
import type { ApiScope } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import type { PageOptions, PagePosition } from '#db/lists/given-values.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { WorkFilter } from '#db/work/work-queries.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { Resubmission } from '#domain/work/resubmission.ts';
import type { WorkKind } from '#domain/work/work.ts';

/** Work as the API shows it; each kind adds to it. */
export interface WorkJson {
  readonly status: WorkStatus;
  readonly next_step_at: string | null;
  readonly failure: { readonly class: FailureClass; readonly detail: string | null } | null;
  readonly attention: { readonly reason: AttentionReason } | null;
  readonly submit_again: Resubmission;
}

/** What the calls that all kinds of work share must know of one kind. */
export interface WorkResource {
  readonly kind: WorkKind;
  /** The name used in operation ids: `Order` in `getOrder`. */
  readonly name: string;
  /** Of the list. */
  readonly path: `/v1/${string}`;
  readonly tag: string;
  readonly scopes: { readonly read: ApiScope; readonly operate: ApiScope };
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
  /** Reads one that is the owner's, as the API shows it. */
  find(db: Executor, id: string, owner: Owner): Promise<WorkJson | undefined>;
}

/** The resource of one kind. Every read redacts the work for a key that is limited to its own work. */
export function workResource(definition: WorkResource): WorkResource {
  return {
    ...definition,
    find: async (db, id, owner) => {
      const shown = await definition.find(db, id, owner);
      return shown && workFor(owner, shown);
    },
  };
}

/**
 * A page of a list, shown as its owner may see it.
 *
 * @param list runs the query of the kind. @throws Problem validation_failed when the cursor is not one of ours.
 */
export async function listWork<View>(
  { kind }: WorkResource,
  owner: Owner,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  list: (options: PageOptions) => Promise<readonly View[]>,
  { json, position }: { readonly json: (view: View) => WorkJson; readonly position: (view: View) => PagePosition },
): Promise<Reply> {
  const after = cursor === undefined ? undefined : readPositionCursor(kind, cursor);
  const views = await list({ limit: limit + 1, after });
  return pageReply(views, limit, {
    json: (view) => workFor(owner, json(view)),
    cursor: (last) => positionCursor(kind, position(last)),
  });
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
