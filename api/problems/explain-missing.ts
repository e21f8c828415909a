import * as z from 'zod';
import { ID_NOUNS } from '#api/fields/ids.ts';
import { PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import { ID_PREFIXES, idKindOf, type IdKind } from '#domain/work/identifiers.ts';

/**
 * Adds to a 404 what kind of id the path contains, unless it says more already. It never contains the id.
 *
 * @param params the schema of the path, which names the kind of its `id`.
 * @returns the same error when it is no such problem.
 */
export function explainMissing(error: unknown, params: z.ZodObject | undefined, path: unknown): unknown {
  if (!(error instanceof Problem) || PROBLEMS[error.code].status !== 404 || error.detail !== undefined) return error;
  const kind = kindOfId(params);
  const given = z.object({ id: z.string() }).safeParse(path).data?.id;
  if (kind === undefined || given === undefined) return error;
  return new Problem(error.code, { detail: explanation(kind, given), headers: error.headers, extra: error.extra });
}

function explanation(kind: IdKind, given: string): string {
  const takes = `This call takes the id of ${ID_NOUNS[kind]}, which begins with \`${ID_PREFIXES[kind]}_\`.`;
  const found = idKindOf(given);
  if (found === kind)
    return `The id has the right form, but there is no such resource, or this API key may not see it.`;
  if (found !== undefined) return `The path contains the id of ${ID_NOUNS[found]}. ${takes}`;
  if (given.startsWith(`${ID_PREFIXES[kind]}_`)) return `The id in the path is not complete. ${takes}`;
  return `The path contains none of our ids. ${takes}`;
}

function kindOfId(params: z.ZodObject | undefined): IdKind | undefined {
  const id: unknown = params?.shape['id'];
  const kind = id instanceof z.ZodType ? id.meta()?.['x-kind'] : undefined;
  return typeof kind === 'string' && kind in ID_PREFIXES ? (kind as IdKind) : undefined;
}
