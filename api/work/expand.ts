/** What answers about work embed on request: the parameter `expand`. */
import type { ApiDependencies } from '#api/dependencies.ts';
import { listOf } from '#api/fields/query.ts';
import type { Caller } from '#api/http/operation.ts';
import { type ApiScope, scopesOfKind } from '#db/access/api-keys.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** The operator's view, which work of every kind has. */
export const OPERATIONS = 'operations';

type EmbeddedName = 'access' | 'activation' | 'esim';

/** A value of `expand`. */
export type ExpandName = EmbeddedName | typeof OPERATIONS;

/** The part of work that says what belongs to it. */
interface Expandable {
  readonly id: string;
  readonly esim_id?: string | null;
}

/** Something that belongs to work and has a call of its own. */
export interface Expansion {
  /** Its value of `expand`, and its field in the answer. */
  readonly name: EmbeddedName;
  /** The scope of its own call. */
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
export function expandScopes(kind: WorkKind, expansions: readonly Expansion[]): ReadonlyMap<ExpandName, ApiScope> {
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
