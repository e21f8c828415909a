import { type Answer, jsonAnswer, validationFailed } from '#simulator/service/errors.ts';
import { isArray, isObject, type Json, jsonFrom, type JsonObject, objectSchema } from '#simulator/shapes/json.ts';
import type { Shape } from '#simulator/shapes/shape.ts';
import { serviceErrorBody } from '#upstream/contract.ts';

type Paging = Shape['paging'];
type Query = Readonly<Record<string, string>>;

const PAGE_SIZE = 25;
const MOST_AT_ONCE = '100';

const integer: JsonObject = { type: 'integer', minimum: 0 };

export const PAGINGS: Readonly<
  Record<Paging, { readonly parameters: readonly string[]; readonly fields: JsonObject }>
> = {
  cursor: { parameters: ['cursor', 'limit'], fields: { next_cursor: { type: ['string', 'null'] } } },
  page: {
    parameters: ['page', 'per_page'],
    fields: { meta: objectSchema({ current_page: integer, last_page: integer, per_page: integer, total: integer }) },
  },
  offset: { parameters: ['offset', 'limit'], fields: { offset: integer, limit: integer, total: integer } },
  link: { parameters: ['cursor', 'limit'], fields: {} },
  has_more: { parameters: ['starting_after', 'limit'], fields: { has_more: { type: 'boolean' } } },
  none: { parameters: [], fields: {} },
};
const ALL_PARAMETERS = new Set(Object.values(PAGINGS).flatMap(({ parameters }) => parameters));

export function queryNames(names: readonly string[], paging: Paging): readonly string[] {
  if (!names.includes('cursor')) return names;
  return [...names.filter((name) => !ALL_PARAMETERS.has(name)), ...PAGINGS[paging].parameters];
}

/** Such a service ignores parameters of another paging. The plain shape refuses them. */
export function ownQuery(query: Readonly<Record<string, unknown>>, paging: Paging): Readonly<Record<string, unknown>> {
  if (paging === 'cursor') return query;
  const own = PAGINGS[paging].parameters;
  return Object.fromEntries(Object.entries(query).filter(([name]) => own.includes(name) || !ALL_PARAMETERS.has(name)));
}

interface ListRequest {
  readonly paging: Paging;
  readonly query: Query;
  /** False for a list that is always whole. */
  readonly isPaged: boolean;
  readonly address: string;
  readonly read: (query: Query) => Answer | Promise<Answer>;
}

/** @throws ServiceError 422 */
export async function pageOfList(request: ListRequest): Promise<Answer> {
  const { paging, query, isPaged, address, read } = request;
  if (paging === 'cursor') return read(query);
  const { page, per_page, offset, starting_after, ...kept } = query;
  if (paging === 'link' || paging === 'none') {
    const limit = Math.min(Number(query['limit'] ?? PAGE_SIZE), PAGE_SIZE);
    const { data, next_cursor: next } = readPart(await read(isPaged ? { ...kept, limit: String(limit) } : kept));
    if (paging === 'none' || next === null) return jsonAnswer(200, { data });
    const further = new URLSearchParams({ ...kept, limit: String(limit), cursor: next }).toString();
    return jsonAnswer(200, { data }, { Link: `<${address}?${further}>; rel="next"` });
  }

  const { limit, cursor: _cursor, ...filter } = kept;
  const items = await readAll(filter, isPaged, read);
  const most = isPaged ? PAGE_SIZE : Math.max(items.length, PAGE_SIZE);
  const size = Math.min(Number((paging === 'page' ? per_page : limit) ?? most), most);
  const start = {
    page: () => (Number(page ?? 1) - 1) * size,
    offset: () => Number(offset ?? 0),
    has_more: () => (starting_after === undefined ? 0 : indexAfter(items, starting_after)),
  }[paging]();
  const total = items.length;
  const beside = {
    page: {
      meta: { current_page: Number(page ?? 1), last_page: Math.max(1, Math.ceil(total / size)), per_page: size, total },
    },
    offset: { offset: start, limit: size, total },
    has_more: { has_more: start + size < total },
  }[paging];
  return jsonAnswer(200, { data: items.slice(start, start + size), ...beside });
}

async function readAll(filter: Query, isPaged: boolean, read: ListRequest['read']): Promise<readonly Json[]> {
  const first = readPart(await read(isPaged ? { ...filter, limit: MOST_AT_ONCE } : filter));
  const items = [...first.data];
  for (let next = first.next_cursor; next !== null;) {
    const part = readPart(await read({ ...filter, limit: MOST_AT_ONCE, cursor: next }));
    items.push(...part.data);
    next = part.next_cursor;
  }
  return items;
}

function readPart({ body }: Answer): { readonly data: readonly Json[]; readonly next_cursor: string | null } {
  const list = jsonFrom(body);
  const data = isObject(list) ? list['data'] : undefined;
  const next = isObject(list) ? list['next_cursor'] : undefined;
  if (!isArray(data)) throw new Error('a list has no items');
  return { data, next_cursor: typeof next === 'string' ? next : null };
}

function indexAfter(items: readonly Json[], id: string): number {
  const index = items.findIndex((item) => {
    const own = isObject(item) ? item['id'] : undefined;
    return own === id || (typeof own === 'number' && String(own) === id);
  });
  if (index === -1) throw validationFailed({ starting_after: 'is the id of no item of this list' });
  return index + 1;
}

interface ErrorShape {
  readonly contentType: string | undefined;
  readonly schema: JsonObject;
  readonly body: (error: ErrorContent) => Json;
}

interface ErrorContent {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string>> | undefined;
}

const PROBLEM_BASE = 'https://errors.simulator.example/problems/';
const JSON_TYPE = 'application/json';
const text: JsonObject = { type: 'string' };
const listsByField: JsonObject = { type: 'object', additionalProperties: { type: 'array', items: text } };

const listed = (fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, problem]) => [name, [problem]]));

function problem(separator: string): ErrorShape {
  const { properties, ...rest } = objectSchema({ type: text, title: text, status: { type: 'integer' }, detail: text });
  return {
    contentType: 'application/problem+json',
    schema: { ...rest, properties: { ...(properties as JsonObject), errors: listsByField } },
    body: ({ status, code, message, fields }) => ({
      type: `${PROBLEM_BASE}${code.replaceAll('_', separator)}`,
      title: code.replaceAll('_', ' '),
      status,
      detail: message,
      ...(fields === undefined ? {} : { errors: listed(fields) }),
    }),
  };
}

const html = ({ status, message }: ErrorContent): string =>
  `<html>\n<head><title>${status}</title></head>\n<body><h1>${status}</h1><p>${escaped(message)}</p></body>\n</html>\n`;

const SHAPES_OF_ERRORS: Readonly<Record<Exclude<Shape['errors'], 'code'>, ErrorShape>> = {
  problem: problem('-'),
  problem_underscored: problem('_'),
  message: { contentType: JSON_TYPE, schema: objectSchema({ message: text }), body: ({ message }) => ({ message }) },
  fields: {
    contentType: JSON_TYPE,
    schema: objectSchema({ errors: listsByField }),
    // Without a field: under `base`.
    body: ({ message, fields }) => ({ errors: listed(fields ?? { base: message }) }),
  },
  html: { contentType: 'text/html', schema: text, body: html },
  empty: { contentType: undefined, schema: text, body: () => '' },
};

export function errorShape(errors: Shape['errors']): Pick<ErrorShape, 'contentType' | 'schema'> | undefined {
  return errors === 'code' ? undefined : SHAPES_OF_ERRORS[errors];
}

/** The status stays. */
export function shapedError(errors: Shape['errors'], answer: Answer): Answer {
  if (errors === 'code') return answer;
  const { error } = serviceErrorBody.parse(jsonFrom(answer.body));
  const { contentType, body } = SHAPES_OF_ERRORS[errors];
  const written = body({ status: answer.status, code: error.code, message: error.message, fields: error.fields });
  const { 'Content-Type': _type, ...headers } = answer.headers ?? {};
  return {
    ...answer,
    body: typeof written === 'string' ? written : JSON.stringify(written),
    headers: contentType === undefined ? headers : { 'Content-Type': contentType, ...headers },
  };
}

function escaped(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
