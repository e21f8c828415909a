import type { Capability } from '#domain/service/capability-profile.ts';
import type { AnswerOf, CallOptions, Caller, ListName } from '#upstream/client/call.ts';
import { failed, type Match, type ServiceFailure, type ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServiceSession } from '#upstream/client/session.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';
import type { ServiceOptions } from '#upstream/service.ts';

/** The service lacks the capability that the call needs. */
export interface Unsupported {
  readonly ok: false;
  readonly kind: 'unsupported';
  readonly capability: Capability;
}

export type OptionalResult<Value> = ServiceResult<Value> | Unsupported;

export type ClientSession = Pick<ServiceSession, 'token' | 'renewAfter401' | 'refusedAfterRenewal'>;
export type ClientOptions = Pick<ServiceOptions, 'mode' | 'capabilities' | 'deadlineMs'>;

/** Of a call that a service may lack, callers have to handle {@link Unsupported}. */
export type ResultOf<Name extends EndpointName, Value> = (typeof ENDPOINTS)[Name] extends {
  readonly capability: Capability;
}
  ? OptionalResult<Value>
  : ServiceResult<Value>;

type Request = Omit<CallOptions, 'deadlineMs'>;

// A send with less of its deadline left could time out, and "certainly not bought" would become "unknown".
const SEND_NEEDS_SHARE = 0.25;

export class Calls {
  readonly options: ClientOptions;
  readonly #call: Caller;
  readonly #session: ClientSession;
  /** Calls that the service has refused without a token: the next ones carry it, and cause no failure. */
  readonly #tokenNeeded = new Set<EndpointName>();

  constructor(call: Caller, session: ClientSession, options: ClientOptions) {
    this.#call = call;
    this.#session = session;
    this.options = options;
  }

  /** A monotonic clock: correcting the wall clock must not extend a call beyond its lease. */
  now(): number {
    return performance.now();
  }

  async one<Name extends Exclude<EndpointName, ListName | 'login'>>(
    endpoint: Name,
    request: Request,
    match?: Match<AnswerOf<Name>>,
  ): Promise<ResultOf<Name, AnswerOf<Name>>> {
    const result = this.unavailable(endpoint) ?? (await this.page(endpoint, request, this.options.deadlineMs, match));
    // A cast: the compiler does not connect the name with its capability.
    return result as ResultOf<Name, AnswerOf<Name>>;
  }

  unavailable(endpoint: EndpointName): Unsupported | ServiceFailure | undefined {
    const { capability, sandboxOnly }: EndpointContract = ENDPOINTS[endpoint];
    if (capability !== undefined && !this.options.capabilities[capability])
      return { ok: false, kind: 'unsupported', capability };
    // In production these calls are refused before anything is sent.
    return sandboxOnly === true && this.options.mode !== 'sandbox' ? SANDBOX_ONLY : undefined;
  }

  async page<Name extends EndpointName>(
    endpoint: Name,
    request: Request,
    deadlineMs: number,
    match?: Match<AnswerOf<Name>>,
  ): Promise<ServiceResult<AnswerOf<Name>>> {
    const { withoutToken }: EndpointContract = ENDPOINTS[endpoint];
    if (withoutToken !== true || this.#tokenNeeded.has(endpoint))
      return await this.#authorized(endpoint, request, deadlineMs, match);
    const deadlineAt = this.now() + deadlineMs;
    const open = await this.#call(endpoint, { ...request, deadlineMs }, match);
    if (open.ok || open.failure !== 'unauthorized') return open;
    const answer = await this.#authorized(endpoint, request, deadlineAt - this.now(), match);
    if (answer.ok) this.#tokenNeeded.add(endpoint);
    return answer;
  }

  /** After a 401 it renews the shared token and sends the same bytes once more, within the same deadline. */
  async #authorized<Name extends EndpointName>(
    endpoint: Name,
    request: Request,
    deadlineMs: number,
    match?: Match<AnswerOf<Name>>,
  ): Promise<ServiceResult<AnswerOf<Name>>> {
    const deadlineAt = this.now() + deadlineMs;
    const left = () => deadlineAt - this.now();
    const send = async (accessToken: string): Promise<ServiceResult<AnswerOf<Name>>> => {
      const budgetMs = Math.floor(left());
      if (budgetMs < deadlineMs * SEND_NEEDS_SHARE) return TOO_LATE;
      // The request must end before the lease does, however long this process was suspended until here.
      if (request.leaseLeftMs !== undefined && request.leaseLeftMs() <= budgetMs) return LEASE_TOO_SHORT;
      const headers = { ...request.headers, authorization: `Bearer ${accessToken}` };
      return await this.#call(endpoint, { ...request, headers, deadlineMs: budgetMs }, match);
    };

    const held = await this.#session.token(left());
    if (!held.ok) return held;
    const first = await send(held.token.accessToken);
    if (first.ok || first.failure !== 'unauthorized') return first;

    const renewed = await this.#session.renewAfter401(held.token.version, left());
    if (!renewed.ok) return renewed;
    const second = await send(renewed.token.accessToken);
    if (!second.ok && second.failure === 'unauthorized') this.#session.refusedAfterRenewal(renewed.token.version);
    return second;
  }
}

/** @param reason a clause: "{reason}, so nothing was sent." */
export function refusedBeforeSending(
  reason: string,
  failure: 'invalid_request' | 'not_sent' = 'invalid_request',
): ServiceFailure {
  return failed(failure, `${reason}, so nothing was sent.`);
}

const SANDBOX_ONLY = refusedBeforeSending('This call exists in the sandbox only, and this is production');
const TOO_LATE = refusedBeforeSending('Getting an access token took too much of the deadline', 'not_sent');
const LEASE_TOO_SHORT = refusedBeforeSending(
  'This process was suspended so long that another process may hold the lease by now',
  'not_sent',
);
