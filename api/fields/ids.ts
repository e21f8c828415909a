import * as z from 'zod';
import { MAX_INTEGER, queryInteger, wholeNumber } from '#api/fields/numbers.ts';
import { idPattern, isId, type IdKind } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS } from '#domain/work/kinds.ts';

export const packageId = wholeNumber(1, MAX_INTEGER).meta({
  description: 'Id of a package at the service.',
  example: 1001,
});

/** The nouns of the ids, each with its article. */
export const ID_NOUNS: Readonly<Record<IdKind, string>> = {
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

/** One of our ids, in an answer. */
export function ourId(kind: IdKind, example: string) {
  return z
    .string()
    .meta({ description: `Id of ${ID_NOUNS[kind]}.`, example, 'x-kind': kind, override: { pattern: idPattern(kind) } });
}

export const exampleKeyId = 'key_01JQ8Z00000000000000000000';

/** The API key that created a resource, in an answer. Read from the owner of the row, without another query. */
export const createdBy = ourId('apiKey', exampleKeyId).meta({
  description:
    'Id of the API key that created it; after rotations the id of the first key of the lineage. The ' +
    'audit log shows later actions.',
});

/** Filter by the API key that created a resource. */
export const createdByInQuery = ourId('apiKey', exampleKeyId)
  .refine((text) => isId('apiKey', text), { message: 'must be the id of an API key; it begins with `key_`' })
  .meta({
    description: 'Only resources created with this API key; after rotations the id of the first key of the lineage.',
  });

/** A kind of work. */
export const workKindField = z.enum(WORK_KINDS).meta({
  description: `Kind of work: ${WORK_KINDS.map((kind) => `\`${kind}\` (${KINDS[kind].noun})`).join(', ')}.`,
});

/** One of our ids in a path. The handler answers an id of another form with 404. */
export function idInPath(kind: IdKind, example: string) {
  return z.strictObject({ id: ourId(kind, example) });
}

/** Whether a text has the form of an id of this kind; avoids queries for invalid ids. */
export function mayExist(kind: IdKind, id: string): boolean {
  return isId(kind, id);
}

export const packageIdInQuery = queryInteger(1, MAX_INTEGER);

function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
