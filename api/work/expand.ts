import { lacking, requireStill } from '#api/access/authentication.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller } from '#api/http/operation.ts';
import { listOf } from '#api/lists/lists.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';
import { type ApiScope, scopesOfKind } from '#db/access/api-keys.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

const OPERATIONS = 'operations';

export type ExpandName = Expansion['name'] | typeof OPERATIONS;

export interface Expansion {
  readonly name: 'access' | 'activation' | 'esim';
  readonly scope: ApiScope;
  /** Such as `the eSIM`. */
  readonly description: string;
  /** The number of statements must not depend on the number of works. Secrets are audited before they are returned. */
  embed(
    dependencies: ApiDependencies,
    works: readonly WorkJson[],
    caller: Caller,
  ): Promise<ReadonlyMap<string, object>>;
}

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

export function plainWork({ operations: _operations, ...work }: WorkJson): object {
  return work;
}

/** @throws Problem missing_scope */
export function viewOfWork(
  dependencies: ApiDependencies,
  { kind, expansions }: Pick<WorkResource, 'kind' | 'expansions'>,
  expand: readonly ExpandName[] = [],
  { caller, isHead }: { readonly caller: Caller; readonly isHead: boolean },
) {
  const wanted = new Set(expand);
  const scopes: readonly { name: ExpandName; scope: ApiScope }[] = [
    { name: OPERATIONS, scope: scopesOfKind(kind).operate },
    ...expansions,
  ];
  const needed = scopes.filter(({ name }) => wanted.has(name));
  for (const { name, scope } of needed) if (!caller.scopes.includes(scope)) throw lacking(scope, `\`expand=${name}\``);

  const all = async (works: readonly WorkJson[]): Promise<object[]> => {
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
    /** After a wait the API key may have changed. @throws Problem unauthenticated */
    afterWait: async (work: WorkJson) => {
      for (const { scope } of needed) await requireStill(dependencies, caller, scope);
      return one(work);
    },
  };
}
