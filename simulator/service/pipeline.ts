import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { requireToken } from '#simulator/account.ts';
import { endpointNames, isServed, needsToken } from '#simulator/behaviour/dialect.ts';
import { type Answer, notFound, parsed, ServiceError, validationFailed } from '#simulator/service/errors.ts';
import { endingOf, perform } from '#simulator/service/fault-answers.ts';
import { HANDLERS } from '#simulator/service/handlers.ts';
import { nothing, queryFrom, readBody, requireUsableTexts, strictJsonOf } from '#simulator/service/requests.ts';
import { ownQuery, pageOfList, queryNames } from '#simulator/shapes/answers.ts';
import { LISTS } from '#simulator/shapes/shaper.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Environment } from '#simulator/store/store.ts';
import { type EndpointContract, type EndpointName, ENDPOINTS, IDEMPOTENCY_KEY_HEADER } from '#upstream/contract.ts';

interface Received {
  readonly request: Request;
  readonly environment: Environment;
  readonly body: Buffer | ServiceError;
  readonly workMs: number;
}

type Work = (received: Received) => Answer | Promise<Answer>;

/** Read, log, apply faults, work, apply faults, answer, log. */
export class Pipeline {
  readonly #simulation: Simulation;
  readonly #stopping: AbortSignal;
  readonly #underWay = new Set<Promise<void>>();

  constructor(simulation: Simulation, stopping: AbortSignal) {
    this.#simulation = simulation;
    this.#stopping = stopping;
  }

  router(environment: Environment): Router {
    const router = Router({ caseSensitive: true, strict: true });
    for (const path of new Set(endpointNames.map((name) => ENDPOINTS[name].path))) {
      const names = endpointNames.filter((name) => ENDPOINTS[name].path === path);
      const route = router.route(path.replace('{id}', ':id'));
      // The dialect may change while the simulator runs.
      const isNowServed = (name: EndpointName) => isServed(name, this.#simulation.dialect, environment);
      for (const name of names) {
        const handler = this.#handler(environment, name, (received) => this.#serve(name, received));
        const served: RequestHandler = (request, response, next) =>
          isNowServed(name) ? handler(request, response, next) : next();
        if (ENDPOINTS[name].method === 'GET') route.get(served);
        else route.post(served);
      }
      route.all(this.#handler(environment, undefined, () => otherMethod(names.filter(isNowServed)).answer()));
    }
    router.use(this.#handler(environment, undefined, () => notFound('resource').answer()));
    return router;
  }

  async drained(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #handler(environment: Environment, name: EndpointName | undefined, work: Work): RequestHandler {
    return (request, response) => {
      const call = this.#carryOut(environment, name, work, request, response)
        .catch((error: unknown) => {
          if (!this.#stopping.aborted) this.#simulation.logger.error({ err: error }, 'a call could not be carried out');
          response.destroy();
        })
        .finally(() => this.#underWay.delete(call));
      this.#underWay.add(call);
    };
  }

  async #carryOut(
    environment: Environment,
    name: EndpointName | undefined,
    work: Work,
    request: Request,
    response: Response,
  ): Promise<void> {
    const { store, faults, rateLimiter, shaper } = this.#simulation;
    const body = await readBody(request, response).catch((error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    });
    const sequence = logRequest(this.#simulation, environment, name, request, body);
    const rate = rateLimiter.take(
      request.get('Authorization') ?? `${environment} ${request.socket.remoteAddress ?? ''}`,
    );
    const applied = name === undefined || !rate.allowed ? [] : faults.forRequest(environment, name);
    const latencyAt = (at: 'arrival' | 'work' | 'answer') =>
      applied.reduce((total, fault) => total + (fault.kind === 'latency' && fault.at === at ? fault.ms : 0), 0);

    await this.#pause(latencyAt('arrival'));
    let result_status: number | null = null;
    const ending = await endingOf(
      applied.find(({ kind }) => kind !== 'latency'),
      async () => {
        if (!rate.allowed) {
          const message = 'Too many requests with this token; see Retry-After.';
          return new ServiceError(429, 'rate_limited', message, { headers: rate.headers }).answer();
        }
        const answer = await this.#answer(work, { request, environment, body, workMs: latencyAt('work') });
        result_status = answer.status;
        return { ...answer, headers: { ...answer.headers, ...rate.headers } };
      },
    );
    // Answers of faults get the shape, too.
    const shown = typeof ending === 'string' ? ending : { ...ending, answer: shaper.answer(name, ending.answer) };
    await this.#pause(latencyAt('answer'));
    // Logged before it is sent, so that a caller who has the answer finds it in the log.
    const status = typeof shown === 'string' || response.destroyed ? null : shown.answer.status;
    const names = applied.length === 0 ? null : applied.map(({ kind }) => kind).join(',');
    store.change('requests', { sequence }, { result_status, status, faults: names });
    await perform(shown, response);
  }

  async #answer(work: Work, received: Received): Promise<Answer> {
    try {
      return await work(received);
    } catch (error) {
      if (error instanceof ServiceError) return error.answer();
      if (this.#stopping.aborted) throw error;
      this.#simulation.logger.error({ err: error }, 'a call failed');
      return new ServiceError(500, 'internal_error', 'The simulator has a bug; see its log.').answer();
    }
  }

  #serve(name: EndpointName, { request, environment, body, workMs }: Received): Answer | Promise<Answer> {
    const simulation = this.#simulation;
    const endpoint: EndpointContract = ENDPOINTS[name];
    if (body instanceof ServiceError) throw body;
    if (name === 'login') refuseHeader(request, 'Authorization');
    if (needsToken(name, simulation.dialect)) requireToken(simulation, environment, request.get('Authorization'));
    if (!endpoint.idempotencyKey) refuseHeader(request, IDEMPOTENCY_KEY_HEADER);
    const json = withTextIds(simulation, jsonBody(endpoint, body, request.get('Content-Type')));
    const key = endpoint.idempotencyKey ? keyOf(request) : '';
    const { paging } = simulation.shaper.shape;
    requireUsableTexts(request.query);
    const names = queryNames(endpoint.query ?? [], paging);
    const query = withTextIds(simulation, queryFrom(ownQuery(request.query, paging), { ...endpoint, query: names }));
    const id = typeof request.params['id'] === 'string' ? simulation.textId(request.params['id']) : '';
    const call = { operation: name, environment, id, rawBody: body, json, key, workMs, signal: this.#stopping };
    const read = (part: typeof query) => HANDLERS[name](simulation, { ...call, query: part });
    if (!LISTS.has(name)) return read(query);
    const address = `${request.protocol}://${request.get('Host') ?? ''}${request.baseUrl}${request.path}`;
    return pageOfList({ paging, query, isPaged: endpoint.query?.includes('cursor') === true, address, read });
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal: this.#stopping });
  }
}

function withTextIds<Given>(simulation: Simulation, given: Given): Given {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const texts = ['esim_id', 'starting_after'].flatMap((name): [string, unknown][] => {
    const value: unknown = Reflect.get(given, name);
    return typeof value === 'string' ? [[name, simulation.textId(value)]] : [];
  });
  return { ...given, ...Object.fromEntries(texts) };
}

/** Enough for the longest test; a limit for a simulator that runs for weeks. */
const REQUESTS_KEPT = 100_000;

/** Called before any work: tests check what was sent. */
function logRequest(
  { store, clock }: Simulation,
  environment: Environment,
  name: EndpointName | undefined,
  request: Request,
  body: Received['body'],
): number {
  const bytes = body instanceof ServiceError ? Buffer.alloc(0) : body;
  const sequence = store.nextSequence('requests');
  store.insert('requests', {
    environment,
    method: request.method,
    path: request.originalUrl,
    endpoint: name ?? null,
    idempotency_key: request.get(IDEMPOTENCY_KEY_HEADER) ?? null,
    body_sha256: createHash('sha256').update(bytes).digest('hex'),
    body_bytes: bytes.length,
    received_at: clock.now(),
  });
  if (sequence % 1_000 === 0) {
    store.run('DELETE FROM requests WHERE sequence <= :until', { until: sequence - REQUESTS_KEPT });
  }
  return sequence;
}

function jsonBody({ method, body: schema }: EndpointContract, bytes: Buffer, contentType: string | undefined): unknown {
  if (schema !== undefined) return strictJsonOf(bytes, contentType);
  if (method === 'POST' && bytes.length > 0) parsed(nothing, strictJsonOf(bytes, contentType));
  return undefined;
}

/** The specification defines the header for other calls only. @throws ServiceError 400 */
function refuseHeader(request: Request, name: string): void {
  if (request.get(name) === undefined) return;
  const fields = { [name]: 'is not allowed here' };
  throw new ServiceError(400, 'malformed_request', `The header ${name} is not accepted here.`, { fields });
}

function keyOf(request: Request): string {
  const key = request.get(IDEMPOTENCY_KEY_HEADER);
  if (key === undefined || key === '') {
    throw new ServiceError(400, 'idempotency_key_missing', `The header ${IDEMPOTENCY_KEY_HEADER} is required here.`);
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw validationFailed({ [IDEMPOTENCY_KEY_HEADER]: 'must be 1 to 255 visible ASCII characters' });
  }
  return key;
}

function otherMethod(served: readonly EndpointName[]): ServiceError {
  if (served.length === 0) return notFound('resource');
  const headers = { Allow: served.map((name) => ENDPOINTS[name].method).join(', ') };
  return new ServiceError(405, 'method_not_allowed', `This address accepts only ${headers.Allow}.`, { headers });
}
