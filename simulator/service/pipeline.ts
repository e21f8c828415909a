import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { type Dialect, endpointNames, isServed, needsToken } from '#simulator/behaviour/dialect.ts';
import { type Answer, notFound, parsed, ServiceError, validationFailed } from '#simulator/service/errors.ts';
import { type Ending, perform, planOf } from '#simulator/service/fault-plan.ts';
import { HANDLERS } from '#simulator/service/handlers.ts';
import { noBody, queryFrom, readBody, requireUsableTexts, strictJsonOf } from '#simulator/service/requests.ts';
import { ownQuery, pageOfList, queryNames } from '#simulator/shapes/answers.ts';
import { isList } from '#simulator/shapes/shaper.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Environment } from '#simulator/store/store.ts';
import { type EndpointContract, type EndpointName, ENDPOINTS, IDEMPOTENCY_KEY_HEADER } from '#upstream/contract.ts';

interface Received {
  readonly request: Request;
  readonly environment: Environment;
  readonly body: Buffer | ServiceError;
  readonly workMs: number;
  readonly signal: AbortSignal;
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

  endpoint(environment: Environment, name: EndpointName): RequestHandler {
    return this.#handler(environment, name, (received) => this.#serve(name, received));
  }

  refuse(environment: Environment, refusal: (request: Request) => ServiceError): RequestHandler {
    return this.#handler(environment, undefined, ({ request }) => refusal(request).answer());
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
    const { requests, faults, rateLimiter } = this.#simulation;
    const body = await readBody(request, response).catch((error: unknown) => refusalOr(error));
    const sequence = this.#note(environment, name, request, body);
    const rate = rateLimiter.take(callerOf(request, environment));
    const applied = name === undefined || !rate.allowed ? [] : faults.forRequest(environment, name);
    const plan = planOf(applied);
    const received = { request, environment, body, workMs: plan.workMs, signal: this.#stopping };

    await this.#pause(plan.arrivalMs);
    let resultStatus: number | null = null;
    let ending: Ending;
    if (!rate.allowed) {
      ending = { kind: 'answer', answer: withHeaders(tooManyRequests(), rate.headers) };
    } else if (plan.instead !== undefined) {
      ending = plan.instead;
    } else {
      const answer = await this.#answer(work, received);
      resultStatus = answer.status;
      ending = plan.after(withHeaders(answer, rate.headers));
    }
    ending = this.#shaped(name, ending);
    await this.#pause(plan.answerMs);
    const names = applied.length === 0 ? null : applied.map(({ kind }) => kind).join(',');
    // Logged before it is sent, so that a caller who has the answer finds it in the log.
    const planned = ending.kind === 'answer' || ending.kind === 'truncated' ? ending.answer.status : null;
    requests.finish(sequence, { resultStatus, status: response.destroyed ? null : planned, faults: names });
    await perform(ending, response);
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

  /** Answers of faults get the shape, too. */
  #shaped(name: EndpointName | undefined, ending: Ending): Ending {
    if (ending.kind !== 'answer' && ending.kind !== 'truncated') return ending;
    return { ...ending, answer: this.#simulation.shaper.answer(name, ending.answer) };
  }

  #serve(name: EndpointName, received: Received): Answer | Promise<Answer> {
    const { request, environment, body, workMs, signal } = received;
    const endpoint: EndpointContract = ENDPOINTS[name];
    if (body instanceof ServiceError) throw body;
    if (name === 'login') refuseHeader(request, 'Authorization');
    if (needsToken(name, this.#simulation.dialect)) {
      this.#simulation.account.requireToken(environment, request.get('Authorization'));
    }
    if (!endpoint.idempotencyKey) refuseHeader(request, IDEMPOTENCY_KEY_HEADER);
    const json = jsonBody(endpoint, body, request.get('Content-Type'));
    const key = endpoint.idempotencyKey ? keyOf(request) : '';
    const { paging } = this.#simulation.shaper.shape;
    const names = queryNames(endpoint.query ?? [], paging);
    requireUsableTexts(request.query);
    const query = this.#withTextIds(queryFrom(ownQuery(request.query, paging), { ...endpoint, query: names }));
    const id = typeof request.params['id'] === 'string' ? this.#simulation.textId(request.params['id']) : '';
    const judged = this.#withTextIds(json);
    const call = { operation: name, environment, id, rawBody: body, json: judged, key, workMs, signal };
    const read = (part: typeof query) => HANDLERS[name](this.#simulation, { ...call, query: part });
    if (!isList(name)) return read(query);
    const address = `${request.protocol}://${request.get('Host') ?? ''}${request.baseUrl}${request.path}`;
    return pageOfList({ paging, query, isPaged: endpoint.query?.includes('cursor') === true, address, read });
  }

  /** Where ids are numbers, requests contain their digits. */
  #withTextIds<Given>(given: Given): Given {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    const texts = ['esim_id', 'starting_after'].flatMap((name): [string, unknown][] => {
      const value: unknown = Reflect.get(given, name);
      return typeof value === 'string' ? [[name, this.#simulation.textId(value)]] : [];
    });
    return { ...given, ...Object.fromEntries(texts) };
  }

  #note(environment: Environment, name: EndpointName | undefined, request: Request, body: Received['body']): number {
    const bytes = body instanceof ServiceError ? Buffer.alloc(0) : body;
    return this.#simulation.requests.begin({
      environment,
      method: request.method,
      path: request.originalUrl,
      endpoint: name ?? null,
      idempotencyKey: request.get(IDEMPOTENCY_KEY_HEADER) ?? null,
      bodySha256: createHash('sha256').update(bytes).digest('hex'),
      bodyBytes: bytes.length,
      receivedAt: this.#simulation.clock.now(),
    });
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal: this.#stopping });
  }
}

function jsonBody({ method, body: schema }: EndpointContract, bytes: Buffer, contentType: string | undefined): unknown {
  if (schema !== undefined) return strictJsonOf(bytes, contentType);
  if (method === 'POST' && bytes.length > 0) parsed(noBody, strictJsonOf(bytes, contentType));
  return undefined;
}

function callerOf(request: Request, environment: Environment): string {
  return request.get('Authorization') ?? `${environment} ${request.socket.remoteAddress ?? ''}`;
}

function tooManyRequests(): Answer {
  return new ServiceError(429, 'rate_limited', 'Too many requests with this token; see Retry-After.').answer();
}

function withHeaders(answer: Answer, headers: Readonly<Record<string, string>>): Answer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function refusalOr(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  throw error;
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

export function serviceRouter(simulation: Simulation, environment: Environment, pipeline: Pipeline): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const path of new Set(endpointNames.map((name) => ENDPOINTS[name].path))) {
    const names = endpointNames.filter((name) => ENDPOINTS[name].path === path);
    const route = router.route(path.replace('{id}', ':id'));
    for (const name of names) {
      const served = onlyIfServed(simulation, environment, name, pipeline.endpoint(environment, name));
      if (ENDPOINTS[name].method === 'GET') route.get(served);
      else route.post(served);
    }
    route.all(pipeline.refuse(environment, () => otherMethod(simulation.dialect, environment, names)));
  }
  router.use(pipeline.refuse(environment, () => notFound('resource')));
  return router;
}

/** The dialect may change while the simulator runs. */
function onlyIfServed(
  simulation: Simulation,
  environment: Environment,
  name: EndpointName,
  handler: RequestHandler,
): RequestHandler {
  return (request, response, next) => {
    if (isServed(name, simulation.dialect, environment)) return handler(request, response, next);
    return next();
  };
}

function otherMethod(dialect: Dialect, environment: Environment, names: readonly EndpointName[]): ServiceError {
  const methods = names.filter((name) => isServed(name, dialect, environment)).map((name) => ENDPOINTS[name].method);
  if (methods.length === 0) return notFound('resource');
  const allow = methods.join(', ');
  return new ServiceError(405, 'method_not_allowed', `This address accepts only ${allow}.`, {
    headers: { Allow: allow },
  });
}
