/** What answers about work embed on request: the parameter `expand`. */
import { lacking, requireStill } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller } from '#api/http/operation.ts';
import { listOf } from '#api/lists/lists.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';
import { type ApiScope, scopesOfKind } from '#db/access/api-keys.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** The operator's view, which work of every kind has. */
const OPERATIONS = 'operations';

type EmbeddedName = 'access' | 'activation' | 'esim';

export type ExpandName = EmbeddedName | typeof OPERATIONS;

/** The part of work that says what belongs to it. */
interface Expandable {
  readonly id: string;
  readonly esim_id?: string | null;
}

/** Something that belongs to work and has a call of its own. */
export interface Expansion {
  readonly name: EmbeddedName;
  readonly scope: ApiScope;
  /** Such as `the eSIM`. */
  readonly description: string;
  /**
   * Reads it for all work of an answer, in a number of statements that does not depend on the number of works. Secrets
   * are audited before they are returned, once for each thing.
   *
   * @returns values by id of the work, without those of work that has none.
   */
  embed(
    dependencies: ApiDependencies,
    works: readonly Expandable[],
    caller: Caller,
  ): Promise<ReadonlyMap<string, object>>;
}

/** The scope that each value of `expand` needs. */
function expandScopes(kind: WorkKind, expansions: readonly Expansion[]): ReadonlyMap<ExpandName, ApiScope> {
  return new Map<ExpandName, ApiScope>([
    [OPERATIONS, scopesOfKind(kind).operate],
    ...expansions.map(({ name, scope }) => [name, scope] as const),
  ]);
}

/** The parameter `expand` of calls about a kind of work. @param note more text of its description. */
export function expandInQuery(kind: WorkKind, expansions: readonly Expansion[], note = '') {
  const meanings = [
    `\`${OPERATIONS}\`: attempts, retry policy and what an operator needs (\`${scopesOfKind(kind).operate}\`).`,
    ...expansions.map(({ name, description, scope }) => `\`${name}\`: ${description} (\`${scope}\`).`),
  ];
  return listOf<ExpandName>([OPERATIONS, ...expansions.map(({ name }) => name)])
    .optional()
    .meta({
      description:
        'What the answer contains in addition: one value or several, separated by commas. Each needs a scope. ' +
        `${meanings.join(' ')}${note}`,
    });
}

/** Work without the operator's view. */
export function plainWork({ operations: _operations, ...work }: WorkJson): object {
  return work;
}

/** Completes work for an answer. */
export interface WorkView {
  readonly one: (work: WorkJson) => Promise<object>;
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
