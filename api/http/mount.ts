import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { authenticate, type AuthenticationDependencies, callerOf, requireStill } from '#api/access/authentication.ts';
import { InFlight, networkOf } from '#api/access/limits.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { Caller, Incoming, Operation } from '#api/http/operation.ts';
import { onceClosed, sendReply, sendStream } from '#api/http/reply.ts';
import { contextOf } from '#api/http/request-context.ts';
import { Problem } from '#api/problems/problem.ts';
import { didYouMean, suggestedPaths } from '#api/problems/suggestions.ts';
import { lineageOf } from '#db/access/api-keys.ts';
import {
  AT_ONCE,
  AUTHENTICATED_BODY_BYTES,
  type BodyLimits,
  UNAUTHENTICATED_BODIES,
} from '#domain/policy/api-policy.ts';

/** After a longer wait the API key is checked again before the answer is sent. */
const KEY_HOLDS_MS = 500;

/** Some senders name the Content-Encoding of a body that is not encoded. */
const NO_ENCODING = new Set(['', 'identity', 'none', 'utf8', 'utf-8']);

export function isEncoded(contentEncoding = ''): boolean {
  return !NO_ENCODING.has(contentEncoding.trim().toLowerCase());
}

type MountDependencies = AuthenticationDependencies & Pick<ApiDependencies, 'bodyLimitBytes' | 'running'>;

/** Other methods of a path get 405, with Allow. */
export function mountOperations(app: Express, operations: readonly Operation[], dependencies: MountDependencies): void {
  const bodies = { unauthenticated: new InFlight(), authenticated: new InFlight() };
  for (const [path, onPath] of Map.groupBy(operations, ({ path }) => path)) {
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const each of onPath) route[each.method](...handlersOf(each, dependencies, bodies));
    route.all(otherMethods(path, onPath));
  }
  const paths = operations.map(({ path }) => path);
  app.use((request) => {
    const pathWithoutIds = request.path.replaceAll(/\/(?:[a-z]+_[0-9A-Z]+|[0-9]+)(?=\/|$)/g, '/{id}');
    const hint = didYouMean(suggestedPaths(pathWithoutIds, paths));
    const detail = `There is no call at this path.${hint === undefined ? '' : ` ${hint.replace(/^d/, 'D')}`}`;
    throw new Problem('route_not_found', { detail });
  });
}

function handlersOf(
  operation: Operation,
  dependencies: MountDependencies,
  bodies: Readonly<Record<'unauthenticated' | 'authenticated', InFlight>>,
): RequestHandler[] {
  /** Runs before the body is read: a caller without a valid key cannot send one. */
  const guard: RequestHandler = async (request, response, next) => {
    const context = contextOf(request);
    context.route = operation.path;
    if (operation.visitorPage !== undefined) {
      context.visitorPage = operation.visitorPage;
      const refusal = dependencies.limits.visit(request.ip ?? '');
      if (refusal !== undefined) throw refusal;
    }
    if (operation.scope !== undefined) {
      const key = await authenticate(dependencies, request.get('Authorization'), request.ip ?? '');
      context.apiKeyId = key.id;
      const use = dependencies.limits.use(lineageOf(key), key.rateLimit);
      if (use !== undefined) response.set({ ...use.headers });
      if (use?.refusal !== undefined) throw use.refusal;
      context.caller = callerOf(key, operation.scope);
      if (operation.accountWide && context.caller.ownerId !== undefined) {
        throw new Problem('account_wide_only', {
          detail: 'It may not use the wallet, the books, the purchase gate and administration.',
        });
      }
    }
    operation.beforeBody?.({ header: (name) => request.get(name), headerNames: () => Object.keys(request.headers) });
    next();
  };

  const answer: RequestHandler = async (request, response) => {
    // Also when the connection breaks, the place is given back when the work has ended.
    const leave = takePlace(operation, contextOf(request).caller, dependencies);
    try {
      await answerWith(request, response);
    } finally {
      leave?.();
    }
  };

  const answerWith = async (request: Request, response: Response) => {
    const { caller, requestId, span } = contextOf(request);
    const began = performance.now();
    const incoming: Incoming = {
      params: request.params,
      query: request.query,
      takeBytes: () => {
        const body: unknown = request.body;
        request.body = undefined;
        return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      },
      header: (name) => request.get(name),
      headerNames: () => Object.keys(request.headers),
      caller,
      isHead: request.method === 'HEAD',
      requestId,
      onClose: (listener) => onceClosed(response, listener),
    };
    const handle = () => operation.handle(incoming);
    const reply = await (span === undefined ? handle() : span.run(handle));
    // The key may have been revoked during a long wait. A stream checks its key itself.
    const waited = performance.now() - began > KEY_HOLDS_MS && operation.method === 'get' && !('send' in reply);
    if (waited && caller !== undefined && operation.scope !== undefined)
      await requireStill(dependencies, caller, operation.scope);
    await ('send' in reply ? sendStream(response, reply) : sendReply(response, reply));
  };

  if (operation.reads === 'nothing') return [guard, answer];
  // `inflate: false` refuses encodings: a signature covers the bytes as sent, and a small body must stay small.
  const limit = Math.max(dependencies.bodyLimitBytes, operation.bodyLimitBytes ?? 0);
  const raw = express.raw({ type: () => true, limit, inflate: false });
  const read: RequestHandler = (request, response, next) => {
    if (!isEncoded(request.get('Content-Encoding'))) delete request.headers['content-encoding'];
    raw(request, response, next);
  };
  const guarded =
    operation.scope === undefined
      ? withinLimits(read, bodies.unauthenticated, UNAUTHENTICATED_BODIES, ({ ip = '' }) => ({
          sender: networkOf(ip),
          size: 1,
        }))
      : withinLimits(read, bodies.authenticated, AUTHENTICATED_BODY_BYTES, (request) => ({
          sender: contextOf(request).caller?.lineageId ?? '',
          size: Math.min(limit, Number(request.get('Content-Length') ?? limit)),
        }));
  return [guard, guarded, answer];
}

/** @throws Problem too_many_streams, rate_limited */
function takePlace(
  { heavy }: Operation,
  caller: Caller | undefined,
  { running }: MountDependencies,
): (() => void) | undefined {
  if (heavy === undefined || caller === undefined) return undefined;
  const leave = running[heavy].enter(caller.lineageId, { perSender: AT_ONCE[heavy] });
  if (leave !== undefined) return leave;
  const what = heavy === 'file' ? 'read files' : 'run calls about many things';
  throw new Problem(heavy === 'file' ? 'too_many_streams' : 'rate_limited', {
    detail: `An API key may ${what} ${AT_ONCE[heavy]} at a time.`,
    headers: { 'Retry-After': '1' },
  });
}

function otherMethods(path: string, operations: readonly Operation[]): RequestHandler {
  const allow = operations
    .flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
    .join(', ');
  return (request, response) => {
    contextOf(request).route = path;
    if (request.method === 'OPTIONS') {
      response.setHeader('Allow', allow);
      response.status(204).end();
      return;
    }
    throw new Problem('method_not_allowed', {
      detail: `${request.method} is not possible at this address. Possible are: ${allow}.`,
      headers: { Allow: allow },
    });
  };
}

/** Limits the bodies that are being received. @throws Problem rate_limited */
function withinLimits(
  read: RequestHandler,
  inFlight: InFlight,
  limits: BodyLimits,
  sendingOf: (request: Request) => { readonly sender: string; readonly size: number },
): RequestHandler {
  return (request, response, next) => {
    const { sender, size } = sendingOf(request);
    const leave = inFlight.enter(sender, limits, size);
    if (leave === undefined) {
      throw new Problem('rate_limited', {
        detail: 'Too many request bodies are being received.',
        // Bodies arrive within milliseconds, so there is room again soon.
        headers: { 'Retry-After': '1', Connection: 'close' },
      });
    }
    const { deadlineMs } = limits;
    const late = deadlineMs === undefined ? undefined : setTimeout(() => request.socket.destroy(), deadlineMs);
    const done = () => {
      clearTimeout(late);
      leave();
    };
    onceClosed(response, done);
    return read(request, response, (error?: unknown) => {
      done();
      next(error);
    });
  };
}
