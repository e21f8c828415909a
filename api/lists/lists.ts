import * as z from 'zod';
import { queryInteger } from '#api/fields/fields.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import type { Cursor } from '#api/lists/cursor.ts';
import { didYouMean, suggestedNames } from '#api/problems/suggestions.ts';
import type { TimeFilter } from '#db/lists/pages.ts';
import { ID_PREFIXES, type IdKind, idPattern, isId } from '#domain/work/identifiers.ts';

/** Of the queries that can be filtered by time. */
export function timesOf(query: {
  readonly created_after?: Date | undefined;
  readonly created_before?: Date | undefined;
  readonly updated_after?: Date | undefined;
}): TimeFilter {
  return { createdAfter: query.created_after, createdBefore: query.created_before, updatedAfter: query.updated_after };
}

/** Above every configurable wait. */
const MAX_WAIT_SECONDS = 3_600;

export const waitInQuery = queryInteger(0, MAX_WAIT_SECONDS)
  .transform((seconds) => (seconds === 0 ? undefined : seconds))
  .optional()
  .meta({
    description: 'Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default).',
    override: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS },
  });

export function flagInQuery(description: string) {
  return z
    .string()
    .refine((text) => text === 'true' || text === 'false', { message: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional()
    .meta({ description, override: { type: 'boolean' } });
}

export function listOf<Value extends string>(values: readonly Value[]) {
  const isOne = (text: string): text is Value => (values as readonly string[]).includes(text);
  return z
    .string()
    .refine((text) => text.split(',').every(isOne), {
      error: ({ input }) => {
        const allowed = `must be one of ${values.join(', ')}, or several, separated by commas`;
        const unknown = String(input)
          .split(',')
          .find((text) => !isOne(text));
        const hint = unknown === undefined ? undefined : didYouMean(suggestedNames(unknown, values));
        return hint === undefined ? allowed : `${allowed}; ${hint}`;
      },
    })
    .transform((text) => text.split(',').filter(isOne))
    .meta({ override: { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1 } });
}

/** One call can then read what belongs to a page of the caller's own. */
const MAX_VALUES = 100;

/** A value that may contain a comma is also searched as a whole. */
export function severalInQuery(
  isOne: (text: string) => boolean,
  { form, pattern, description }: Readonly<Record<'form' | 'pattern' | 'description', string>>,
) {
  return z
    .string()
    .transform((text) => {
      const values = text.split(',');
      return isOne(text) ? [...new Set([text, ...values.filter(isOne)])] : values;
    })
    .refine((values) => values.every(isOne), { message: `${form}; several are separated by commas`, abort: true })
    .refine((values) => values.length <= MAX_VALUES, { message: `must have at most ${MAX_VALUES} values` })
    .optional()
    .meta({
      description: `${description} Up to ${MAX_VALUES}, separated by commas.`,
      override: { type: 'array', items: { type: 'string', pattern }, minItems: 1, maxItems: MAX_VALUES },
    });
}

export function idsInQuery(kind: IdKind) {
  return severalInQuery((text) => isId(kind, text), {
    form: `must have the form of an id of this list, which begins with \`${ID_PREFIXES[kind]}_\``,
    pattern: idPattern(kind),
    description: 'Only those with this id.',
  });
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export const pageQuery = {
  limit: queryInteger(1, MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .meta({
      description: `Maximum number of items, 1 to ${MAX_LIMIT}.`,
      override: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    }),
  cursor: z
    .string()
    .max(200)
    .optional()
    .meta({ description: '`next_cursor` of the previous page; omit it for the first page.' }),
};

export function pageShape<Item extends z.ZodType>(item: Item) {
  return {
    data: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Value of `cursor` for the next page; null on the last page.' }),
  };
}

export function pageOf<Item extends z.ZodType>(item: Item, id: string) {
  return z.strictObject(pageShape(item)).meta({ id });
}

interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

type ReadPage<Item, Position> = (page: {
  readonly limit: number;
  readonly after: Position | undefined;
}) => Promise<readonly Item[]>;

/** Reads one more than the limit, to see whether there is a next page. */
export async function readPage<Item, Position>(
  { limit, cursor }: PageRequest,
  form: Cursor<Position, Item>,
  read: ReadPage<Item, Position>,
): Promise<{ readonly data: readonly Item[]; readonly next_cursor: string | null }> {
  const after = cursor === undefined ? undefined : form.read(cursor);
  const found = await read({ limit: limit + 1, after });
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { data: found.slice(0, limit), next_cursor: last === undefined ? null : form.write(last) };
}

/** @param more what the page contains beside its items. */
export async function pageReply<Item, Position>(
  query: PageRequest,
  form: Cursor<Position, Item>,
  read: ReadPage<Item, Position>,
  json: (item: Item) => object,
  more: object = {},
): Promise<Reply> {
  const { data, next_cursor } = await readPage(query, form, read);
  return jsonReply(200, { data: data.map(json), next_cursor, ...more });
}
