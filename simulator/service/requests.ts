import express, { type Request, type Response } from 'express';
import * as z from 'zod';
import { type Answer, jsonAnswer, parsed, ServiceError, validationFailed } from '#simulator/service/errors.ts';
import { type Environment, type Page, pageOfRows } from '#simulator/store/store.ts';
import {
  type EndpointContract,
  type EndpointName,
  ENDPOINTS,
  loginRequest,
  orderRequest,
  simulationRequest,
  topupRequest,
  updateQuery,
  vpnOrderRequest,
} from '#upstream/contract.ts';

/** Far above the largest request of the interface. */
const BODY_LIMIT_BYTES = 65_536;

const readRaw = express.raw({ type: () => true, limit: BODY_LIMIT_BYTES, inflate: false });

/** @throws ServiceError 413 too large, 415 compressed, 400 incomplete. */
export async function readBody(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    readRaw(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(refusalOf(error));
    });
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** @throws ServiceError 415 for another type than JSON in UTF-8, 400 for invalid JSON. */
export function jsonOf(body: Buffer, contentType: string | undefined): unknown {
  return parsedJson(body, contentType).value;
}

/** @throws ServiceError as in {@link jsonOf}; 400 for a repeated name, 422 for an invalid text. */
export function strictJsonOf(body: Buffer, contentType: string | undefined): unknown {
  const { text, value } = parsedJson(body, contentType);
  const repeated = repeatedName(text);
  if (repeated !== undefined) {
    const fields = { [repeated]: 'occurs twice' };
    throw new ServiceError(400, 'malformed_request', 'An object of the body has a name twice.', { fields });
  }
  requireUsableTexts(value);
  return value;
}

/** @throws ServiceError 422 with every field that contains NUL or a lone surrogate. */
export function requireUsableTexts(value: unknown): void {
  const paths = unusableTexts(value);
  if (paths.length === 0) return;
  throw validationFailed(Object.fromEntries(paths.map((path) => [path, 'must not contain NUL or a lone surrogate'])));
}

function parsedJson(body: Buffer, contentType = ''): { readonly text: string; readonly value: unknown } {
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(contentType)) {
    throw new ServiceError(415, 'unsupported_media_type', 'The Content-Type must be application/json.');
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new ServiceError(400, 'malformed_request', 'The body is not JSON in UTF-8.');
  }
}

function refusalOf(error: unknown): ServiceError {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) {
    return new ServiceError(413, 'payload_too_large', `The body has more than ${BODY_LIMIT_BYTES} bytes.`);
  }
  if (status === 415) return new ServiceError(415, 'unsupported_media_type', 'Compressed bodies are not accepted.');
  return new ServiceError(400, 'malformed_request', 'The body could not be read.');
}

const MAX_PAGE = 100;
const DEFAULT_PAGE = 50;

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

export function pageFrom(query: Readonly<Record<string, string>>): Page {
  const { cursor, limit } = query;
  return { cursor: cursor === undefined ? undefined : sequenceOf(cursor), limit: Number(limit ?? DEFAULT_PAGE) };
}

/** One item more shows whether another page follows. */
export function oneMore(page: Page): Page {
  return { ...page, limit: page.limit + 1 };
}

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

export function catalogueAnswer<Item extends { readonly id: number }>(
  items: readonly Item[],
  page: Page,
  wire: (item: Item) => unknown,
): Answer {
  const rows = items.filter(({ id }) => id > (page.cursor ?? -1)).map((item) => ({ sequence: item.id, item }));
  return pageAnswer(rows, page, ({ item }) => wire(item));
}

export function wholeList<Item>(items: readonly Item[], wire: (item: Item) => unknown): Answer {
  return jsonAnswer(200, { data: items.map(wire), next_cursor: null });
}

function sequenceOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^\d{1,15}$/.test(text)) throw validationFailed({ cursor: 'is no cursor of this list' });
  return Number(text);
}

/** Unknown fields are refused. */
export const orderBody = orderRequest
  .extend({ external_order_id: notBlank(orderRequest.shape.external_order_id) })
  .strict();
export const topupBody = topupRequest.strict();
export const vpnOrderBody = vpnOrderRequest
  .extend({
    external_subscription_id: notBlank(vpnOrderRequest.shape.external_subscription_id),
    customer_reference: notBlank(vpnOrderRequest.shape.customer_reference),
  })
  .strict();
export const simulationBody = simulationRequest.strict();

/** Calls without a body also accept an empty object. */
export const nothing = z.strictObject({});

// The specification allows expires_in_days on production login only.
export const LOGIN_BODIES = {
  production: loginRequest.strict(),
  sandbox: loginRequest.omit({ expires_in_days: true }).strict(),
} as const;

const BODIES: Readonly<Partial<Record<EndpointName, z.ZodType>>> = {
  createOrder: orderBody,
  createTopup: topupBody,
  createVpnOrder: vpnOrderBody,
  simulateEsim: simulationBody,
};

export function requestBody(name: EndpointName, environment: Environment): z.ZodType | undefined {
  const { body }: EndpointContract = ENDPOINTS[name];
  return name === 'login' ? LOGIN_BODIES[environment] : (BODIES[name] ?? body);
}

function notBlank(reference: z.ZodString): z.ZodString {
  return reference.refine((text) => text.trim() !== '', 'must not be blank');
}

/**
 * Parsers that take the first or the last name would act on different requests. @returns a path such as `device.0.id`.
 */
function repeatedName(text: string): string | undefined {
  const open: Level[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    const level = open.at(-1);
    if (token === '{' || token === '[') {
      open.push({ names: new Set(), isObject: token === '{', expectsName: true, at: 0 });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (level?.isObject === false && token === ',') {
      level.at = Number(level.at) + 1;
    } else if (level?.isObject === true && token === ',') {
      level.expectsName = true;
    } else if (level?.isObject === true && level.expectsName) {
      level.at = String(JSON.parse(token));
      if (level.names.has(level.at)) return open.map(({ at }) => at).join('.');
      level.names.add(level.at);
      level.expectsName = false;
    }
  }
  return undefined;
}

interface Level {
  readonly names: Set<string>;
  readonly isObject: boolean;
  expectsName: boolean;
  at: string | number;
}

/** PostgreSQL accepts neither NUL nor lone surrogates, and UTF-8 cannot encode the second. @returns their paths. */
function unusableTexts(value: unknown): readonly string[] {
  const found: string[] = [];
  // Recursion on deeply nested brackets would overflow the stack.
  const waiting: { readonly path: string; readonly value: unknown }[] = [{ path: '', value }];
  for (const { path, value: each } of waiting) {
    if (typeof each === 'string' && !isUsable(each)) found.push(path === '' ? 'body' : path);
    if (typeof each !== 'object' || each === null) continue;
    for (const [name, inner] of Object.entries(each) as [string, unknown][]) {
      const below = path === '' ? shown(name) : `${path}.${shown(name)}`;
      if (isUsable(name)) waiting.push({ path: below, value: inner });
      else found.push(below);
    }
  }
  return found;
}

function isUsable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function shown(name: string): string {
  return name.toWellFormed().replaceAll(/[\0\ufffd]/g, '?');
}
