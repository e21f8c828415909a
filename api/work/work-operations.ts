import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Operation } from '#api/http/operation.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { listOperations, type WorkList } from '#api/work/work-lists.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import type { CommonQuery } from '#api/work/work-schemas.ts';
import type { StoredWork, WorkFilter } from '#db/work/work-reads.ts';

/** What all kinds of work have: the list, the file, reads and the actions of operators. */
export function workOperations<
  Query extends z.ZodObject & z.ZodType<CommonQuery>,
  Stored extends StoredWork,
  Filter extends WorkFilter,
  Shown extends object,
>(dependencies: ApiDependencies, resource: WorkResource, list: WorkList<Query, Stored, Filter, Shown>): Operation[] {
  return [
    ...listOperations(dependencies, resource, list),
    // Before the path with an id.
    bulkOperation(dependencies, resource),
    ...workReadOperations(dependencies, resource),
    ...workActionOperations(dependencies, resource),
  ];
}
