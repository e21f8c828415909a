import type * as z from 'zod';
import type { WorkStatus } from '#domain/lifecycle.ts';
import type { WorkKind } from '#domain/work.ts';
import type { ApiScope } from '#db/api-keys.ts';
import type { Executor } from '#db/database.ts';
import type { WorkFilter, WorkPosition } from '#db/work-queries.ts';
import { readWorkCursor, workCursor } from '#api/cursor.ts';
import { invalid } from '#api/operation.ts';
import { Problem, type ProblemCode } from '#api/problem.ts';
import type { workListQuery } from '#api/work-schemas.ts';

/** What the calls that all kinds of work share must know of one kind. */
export interface WorkResource {
  readonly kind: WorkKind;
  /** As it stands in operation ids: `Order` of `getOrder`. */
  readonly name: string;
  /** Of the list. */
  readonly path: `/v1/${string}`;
  readonly tag: string;
  readonly scopes: { readonly read: ApiScope; readonly operate: ApiScope };
  readonly notFound: ProblemCode;
  readonly output: z.ZodType;
  readonly example: { readonly id: string };
  /** Reads one, as the API shows it. */
  find(db: Executor, id: string): Promise<object | undefined>;
}

/** A page of a list, from one row more than was asked for: that tells whether there is a next page. */
export function pageJson<View>(
  { kind }: Pick<WorkResource, 'kind'>,
  views: readonly View[],
  limit: number,
  { json, position }: { readonly json: (view: View) => object; readonly position: (view: View) => WorkPosition },
) {
  const shown = views.slice(0, limit);
  const last = views.length > limit ? shown.at(-1) : undefined;
  return { data: shown.map(json), next_cursor: last === undefined ? null : workCursor(kind, position(last)) };
}

/** Where a page begins, from the request. @throws Problem validation_failed when the cursor is not one of ours. */
export function pageStart({ kind }: Pick<WorkResource, 'kind'>, cursor: string | undefined): WorkPosition | undefined {
  return cursor === undefined ? undefined : readWorkCursor(kind, cursor);
}

/** The problem that there is none with this id. */
export function notFound({ notFound: code }: WorkResource): Problem {
  return new Problem(code);
}

/** A deadline must lie ahead. @throws Problem validation_failed */
export function requireFuture(deadline: Date | undefined, now: Date): void {
  if (deadline !== undefined && deadline <= now) {
    throw invalid([{ in: 'body', field: 'deadline', message: 'must lie in the future' }]);
  }
}

/** The part of a list's query that all kinds share. */
export function workFilter(query: z.output<z.ZodObject<ReturnType<typeof workListQuery<WorkStatus>>>>): WorkFilter {
  return {
    status: query.status,
    failureClass: query.failure_class,
    attentionReason: query.attention,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
  };
}
