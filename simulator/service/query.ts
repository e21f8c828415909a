import * as z from 'zod';
import { jsonAnswer, parsed, validationFailed, type Answer } from '#simulator/service/errors.ts';
import { pageOfRows, type Page } from '#simulator/store/page.ts';
import { updateQuery, type EndpointContract } from '#upstream/contract.ts';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 50;

/** All query parameters, for validation and for the OpenAPI document. */
export const QUERY_FIELDS: Readonly<Record<string, z.ZodType<string>>> = {
  cursor: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'is no cursor of this list'),
  page: z.string().regex(/^[1-9]\d{0,5}$/, 'must be a number from 1 on'),
  per_page: z.string().regex(/^(?:[1-9]\d?|100)$/, `must be a number from 1 to ${MAX_PAGE}`),
  offset: z.string().regex(/^(?:0|[1-9]\d{0,8})$/, 'must be a number from 0 on'),
  starting_after: z.string().min(1).max(128),
  limit: z.string().regex(/^(?:[1-9]\d?|100)$/, `must be a number from 1 to ${MAX_PAGE}`),
  external_order_id: z.string().min(1).max(128),
  external_subscription_id: z.string().min(1).max(128),
  esim_id: z.string().min(1).max(128),
  since: z.iso.datetime({ offset: true }),
  ...updateQuery.shape,
};

/** Validates query parameters. @throws ServiceError 422 */
export function queryFrom(
  query: unknown,
  { query: names = [], requiredQuery = [] }: Pick<EndpointContract, 'query' | 'requiredQuery'>,
): Readonly<Record<string, string>> {
  const fields = names.map(
    (name) => [name, requiredQuery.includes(name) ? field(name) : field(name).optional()] as const,
  );
  const values = parsed(z.strictObject(Object.fromEntries(fields)), query);
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

function field(name: string): z.ZodType<string> {
  const found = QUERY_FIELDS[name];
  if (found === undefined) throw new Error(`the contract has a query parameter that is not served: ${name}`);
  return found;
}

/** The requested page of a list. */
export function pageFrom(query: Readonly<Record<string, string>>): Page {
  const { cursor, limit } = query;
  return { cursor: cursor === undefined ? undefined : sequenceOf(cursor), limit: Number(limit ?? DEFAULT_PAGE) };
}

/** Reads one item more, to find out whether another page follows. */
export function oneMore(page: Page): Page {
  return { ...page, limit: page.limit + 1 };
}

/** A page of a list, with the cursor of the next page. @param wire makes the item of a row. */
export function pageAnswer<Row extends { readonly sequence: number }>(
  rows: readonly Row[],
  page: Page,
  wire: (row: Row) => unknown,
): Answer {
  const { items, nextCursor } = pageOfRows(rows, page.limit);
  return jsonAnswer(200, {
    data: items.map(wire),
    next_cursor: nextCursor === null ? null : Buffer.from(String(nextCursor)).toString('base64url'),
  });
}

/** A page of a catalogue; the ids of the items are their sequence. */
export function catalogueAnswer<Item extends { readonly id: number }>(
  items: readonly Item[],
  page: Page,
  wire: (item: Item) => unknown,
): Answer {
  const rows = items.filter(({ id }) => id > (page.cursor ?? -1)).map((item) => ({ sequence: item.id, item }));
  return pageAnswer(rows, page, ({ item }) => wire(item));
}

/** A whole list, for calls without a cursor. */
export function wholeList<Item>(items: readonly Item[], wire: (item: Item) => unknown): Answer {
  return jsonAnswer(200, { data: items.map(wire), next_cursor: null });
}

function sequenceOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^\d{1,15}$/.test(text)) throw validationFailed({ cursor: 'is no cursor of this list' });
  return Number(text);
}
