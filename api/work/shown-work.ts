/** Work as a caller sees it: without the operator's view, and with what the caller asks for. */
import { lacking, requireStill } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller } from '#api/http/operation.ts';
import { type ExpandName, OPERATIONS, expandScopes } from '#api/work/expand.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';

/** Work without the operator's view. */
export function plainWork({ operations: _operations, ...work }: WorkJson): object {
  return work;
}

/** Completes work for an answer. */
export interface WorkView {
  readonly one: (work: WorkJson) => Promise<object>;
  /** Shows a page of work. */
  readonly all: (works: readonly WorkJson[]) => Promise<object[]>;
  /** Shows work after a wait: the API key may have changed since. @throws Problem unauthenticated */
  readonly afterWait: (work: WorkJson) => Promise<object>;
}

/**
 * How a caller sees work.
 *
 * @param expand the values of the parameter `expand`.
 * @throws Problem missing_scope
 */
export function viewOfWork(
  dependencies: ApiDependencies,
  { kind, expansions }: Pick<WorkResource, 'kind' | 'expansions'>,
  expand: readonly ExpandName[] = [],
  { caller, isHead }: { readonly caller: Caller; readonly isHead: boolean },
): WorkView {
  const wanted = new Set(expand);
  const needed = [...expandScopes(kind, expansions)].filter(([name]) => wanted.has(name));
  for (const [name, scope] of needed) if (!caller.scopes.includes(scope)) throw lacking(scope, `\`expand=${name}\``);

  const all = async (works: readonly WorkJson[]) => {
    const embedded: (readonly [string, ReadonlyMap<string, object>])[] = [];
    for (const expansion of expansions)
      // HEAD shows nothing, so nothing is read or audited.
      if (wanted.has(expansion.name) && !isHead)
        embedded.push([expansion.name, await expansion.embed(dependencies, works, caller)]);
    return works.map((work) => ({
      ...plainWork(work),
      ...Object.fromEntries(embedded.map(([name, byWork]) => [name, byWork.get(work.id) ?? null])),
      ...(wanted.has(OPERATIONS) && { operations: work.operations }),
    }));
  };
  const one = async (work: WorkJson) => {
    const [shown = plainWork(work)] = await all([work]);
    return shown;
  };
  return {
    all,
    one,
    afterWait: async (work) => {
      for (const [, scope] of needed) await requireStill(dependencies, caller, scope);
      return one(work);
    },
  };
}
