/** Used for routing, authorisation, input checks and the description in /openapi.json. */
import * as z from 'zod';
import { readIdempotencyKey } from '#api/http/idempotency.ts';
import { check, checkQuery, readJsonBody, refuseNul } from '#api/http/read-request.ts';
import type { Reply, StreamedReply } from '#api/http/reply.ts';
import { tagOf } from '#api/http/tags.ts';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { explainMissing, type FieldError, invalid, type Problem, requireIdForm } from '#api/problems/problem.ts';
import type { ApiScope } from '#db/access/api-keys.ts';
import type { AT_ONCE } from '#domain/policy/api-policy.ts';

export interface Caller {
  readonly apiKeyId: string;
  readonly keyPrefix: string;
  /** The first key of the lineage, which rotations continue. It owns what is created, and scopes Idempotency-Keys. */
  readonly lineageId: string;
  /** Limits the caller to the work of this lineage; undefined: no limit. */
  readonly ownerId: string | undefined;
  /** The scope of the call itself is checked before. */
  readonly scopes: readonly string[];
}

export interface DocumentedAnswer {
  readonly description: string;
  readonly contentType: string;
  /** Such as HTML for browsers. */
  readonly otherContentTypes?: readonly string[];
  /** Absent when the content is not JSON. */
  readonly schema?: z.ZodType;
  readonly example?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonAnswer(
  description: string,
  schema: z.ZodType,
  more: Pick<DocumentedAnswer, 'headers' | 'example'> = {},
): DocumentedAnswer {
  return { description, contentType: 'application/json', schema, ...more };
}

interface Documentation {
  readonly id: string;
  /** If it is not that of its path. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** Other than Authorization and the Idempotency-Key of an idempotent call; read by the handler. */
  readonly requestHeaders?: z.ZodObject;
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
  /** Those of authorisation, parsing and an unknown id in the path are added automatically. */
  readonly problems?: readonly ProblemCode[];
  /** For a call whose bodies may be longer than `API_BODY_LIMIT`. */
  readonly bodyLimitBytes?: number;
  /** How many heavy calls one API key may run at the same time. */
  readonly heavy?: keyof typeof AT_ONCE;
  /** Calls about the whole account refuse keys that are limited to their own work: all calls of some scopes do. */
  readonly accountWide?: boolean;
  /** Limits the requests of an address, and shows problems as a page. */
  readonly visitorPage?: VisitorPage;
}

export type VisitorPage = (problem: Problem, request: Pick<Incoming, 'query' | 'header'>) => Reply;

export interface Incoming {
  readonly params: unknown;
  readonly query: unknown;
  /** Not kept: a request may wait long, and its body may be much longer than what it says. */
  readonly takeBytes: () => Buffer;
  /** A repeated header is joined by Node. */
  readonly header: (name: string) => string | undefined;
  readonly headerNames: () => readonly string[];
  readonly caller: Caller | undefined;
  /** True for HEAD: the answer has no body. */
  readonly isHead: boolean;
  readonly requestId: string;
  readonly onClose: (listener: () => void) => void;
}

export type IncomingHeaders = Pick<Incoming, 'header' | 'headerNames'>;

/** `none`: any valid key. */
export type RequiredScope = ApiScope | 'none';

const ACCOUNT_WIDE_SCOPES: ReadonlySet<RequiredScope> = new Set([
  'wallet:read',
  'pricing:read',
  'pricing:write',
  'gate:read',
  'gate:operate',
  'service:admin',
  'audit:read',
]);

/** Such as `GET /v1/orders/{id}`. */
type Route = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;

function methodAndPath(route: Route): Pick<Operation, 'method' | 'path'> {
  const [method, path = ''] = route.split(' ');
  return { method: method?.toLowerCase() as Operation['method'], path };
}

export interface Operation extends Documentation {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly tag: string;
  readonly scope: RequiredScope | undefined;
  readonly reads: 'nothing' | 'json' | 'bytes';
  readonly idempotent?: boolean | undefined;
  readonly prefersWait?: boolean | undefined;
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodObject | undefined;
  /** False when the body is optional because all its fields are. */
  readonly bodyRequired?: boolean;
  readonly bodyExample?: unknown;
  /** @throws Problem when the headers alone refuse the request; its body is then not read. */
  readonly beforeBody?: (headers: IncomingHeaders) => void;
  readonly handle: (incoming: Incoming) => Promise<Reply | StreamedReply>;
}

const none = z.strictObject({});
type None = typeof none;

/** A request with a valid key. */
export interface CallerRequest extends Pick<Incoming, 'header' | 'isHead' | 'onClose' | 'requestId'> {
  readonly caller: Caller;
  /** Method and path, such as `POST /v1/esims/esim_…/cancel`. */
  readonly target: string;
  /** The body before its schema. */
  readonly json: unknown;
}

interface ApiRequest<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
> extends CallerRequest {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
}

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
> extends Documentation {
  readonly scope: RequiredScope;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyExample?: z.input<Body>;
  /** For a body that is required although no single field is. */
  readonly bodyRequired?: true;
  readonly idempotent?: boolean;
  readonly prefersWait?: boolean;
  readonly handle: (request: ApiRequest<Params, Query, Body>) => Promise<Reply | StreamedReply>;
}

/** Accepts only the fields in its schemas. */
export function operation<
  Params extends z.ZodObject = None,
  Query extends z.ZodObject = None,
  Body extends z.ZodObject = None,
>(route: Route, definition: Definition<Params, Query, Body>): Operation {
  const { params, query, body, scope } = definition;
  const { method, path } = methodAndPath(route);
  // A PATCH without a body is a mistake.
  const bodyRequired =
    body !== undefined && (definition.bodyRequired === true || method === 'patch' || !body.safeParse({}).success);
  return {
    ...definition,
    method,
    path,
    tag: definition.tag ?? tagOf(path),
    accountWide: definition.accountWide ?? ACCOUNT_WIDE_SCOPES.has(scope),
    bodyRequired,
    reads: body === undefined ? 'nothing' : 'json',
    async handle(incoming) {
      if (incoming.caller === undefined) throw new TypeError(`${definition.id} was mounted without its guard`);
      const json = body === undefined ? {} : bodyOf(incoming, bodyRequired);
      const errors: FieldError[] = [];
      const checked = {
        params: check(params ?? none, 'path', incoming.params, errors),
        query: checkQuery(query ?? none, incoming.query, errors),
        body: check(body ?? none, 'body', json, errors),
      };
      refuseNul(incoming.query, errors);
      if (errors.length > 0) throw invalid(errors);
      if (definition.idempotent === true) readIdempotencyKey(incoming.header('Idempotency-Key'));
      try {
        requireIdForm(params, incoming.params);
        return await definition.handle({
          // Without errors all three were parsed by their schemas.
          ...(checked as Pick<ApiRequest<Params, Query, Body>, 'params' | 'query' | 'body'>),
          target: routeWith(route, checked.params),
          json,
          header: incoming.header,
          caller: incoming.caller,
          isHead: incoming.isHead,
          onClose: incoming.onClose,
          requestId: incoming.requestId,
        });
      } catch (error) {
        throw explainMissing(error, params, incoming.params);
      }
    },
  };
}

function routeWith(route: Route, params: unknown): string {
  const values = new Map(Object.entries(params ?? {}));
  return route.replaceAll(/\{(\w+)\}/g, (_place, name: string) => String(values.get(name)));
}

function bodyOf({ takeBytes, header }: Incoming, isRequired: boolean): unknown {
  const bytes = takeBytes();
  return bytes.length === 0 && !isRequired ? {} : readJsonBody(bytes, header('Content-Type'));
}

/** Needs no key. */
export function publicOperation(
  route: Route,
  definition: Documentation &
    Pick<Operation, 'params' | 'beforeBody'> & {
      readonly reads?: 'bytes';
      readonly handle: (incoming: Incoming) => Promise<Reply>;
    },
): Operation {
  const { method, path } = methodAndPath(route);
  return { reads: 'nothing', ...definition, method, path, tag: definition.tag ?? tagOf(path), scope: undefined };
}
