import * as z from 'zod';
import { PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import { ID_PREFIXES, idKindOf, type IdKind } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS } from '#domain/work/kinds.ts';

/** What the ids are of, with an article. */
const NOUNS: Readonly<Record<IdKind, string>> = {
  ...(Object.fromEntries(WORK_KINDS.map((kind) => [kind, withArticle(KINDS[kind].noun)])) as Record<
    (typeof WORK_KINDS)[number],
    string
  >),
  orderBatch: 'a batch of orders',
  refund: 'a refund',
  attempt: 'an attempt',
  esim: 'an eSIM',
  shareLink: 'a share link',
  case: 'a case',
  action: 'an action of an operator',
  pause: 'a pause',
  apiKey: 'an API key',
  journalEntry: 'an entry of the journal',
  reconciliation: 'a reconciliation',
  event: 'an event',
  pricingRule: 'a pricing rule',
  webhookEndpoint: 'a webhook endpoint',
  webhookDelivery: 'a webhook delivery',
};

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
  const takes = `This call takes the id of ${NOUNS[kind]}, which begins with \`${ID_PREFIXES[kind]}_\`.`;
  const found = idKindOf(given);
  if (found === kind)
    return `The id has the right form, but there is no such resource, or this API key may not see it.`;
  if (found !== undefined) return `The path contains the id of ${NOUNS[found]}. ${takes}`;
  if (given.startsWith(`${ID_PREFIXES[kind]}_`)) return `The id in the path is not complete. ${takes}`;
  return `The path contains none of our ids. ${takes}`;
}

function kindOfId(params: z.ZodObject | undefined): IdKind | undefined {
  const id: unknown = params?.shape['id'];
  const kind = id instanceof z.ZodType ? id.meta()?.['x-kind'] : undefined;
  return typeof kind === 'string' && kind in ID_PREFIXES ? (kind as IdKind) : undefined;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
