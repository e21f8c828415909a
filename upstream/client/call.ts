import type * as z from 'zod';
import type { FailureClass } from '#domain/work/failure.ts';
import { judgeResult, type BodyResult, type ServiceResult, type Unused } from '#upstream/client/error-mapping.ts';
import type { HttpTransport } from '#upstream/client/http.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';
import { serviceParameter, VARIANTS } from '#upstream/contract/variants.ts';
import { readBody, type ListPage } from '#upstream/reading/body.ts';

/** Calls that answer a list. */
export type ListName = Extract<EndpointName, `list${string}`>;
export type ItemOf<Name extends ListName> = z.output<(typeof ENDPOINTS)[Name]['answer']>['data'][number];

/** What a call gives when it goes well. */
export type AnswerOf<Name extends EndpointName> = Name extends ListName
  ? ListPage<ItemOf<Name>>
  : z.output<(typeof ENDPOINTS)[Name]['answer']>;

/** One HTTP exchange, for metrics. Holds nothing of its contents. */
export interface CallEvent {
  readonly endpoint: EndpointName;
  readonly outcome: 'ok' | FailureClass;
  readonly durationMs: number;
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** What of the answer could not be used. */
  readonly unused?: Unused;
}

export interface CallOptions {
  /** Value of `{id}` in the endpoint's path. */
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Exact bytes of a JSON body. */
  readonly body?: Buffer;
  /** Milliseconds for the whole exchange. */
  readonly deadlineMs: number;
  /**
   * Milliseconds that the sole right to make this call lasts from now on: the request does not leave unless its
   * deadline ends before. Absent where nothing is lost by two at once.
   */
  readonly leaseLeftMs?: (() => number) | undefined;
}

/** Makes one call of the contract over HTTP: one request, one judged result, never a throw. */
export type Caller = <Name extends EndpointName>(
  endpoint: Name,
  options: CallOptions,
  contradiction?: (value: AnswerOf<Name>) => string | undefined,
) => Promise<ServiceResult<AnswerOf<Name>>>;

export interface CallerOptions {
  /** Address of the service in its mode, as `serviceAddress` gives it. */
  readonly address: string;
  readonly transport: HttpTransport;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onCall?: (event: CallEvent) => void;
}

export function createCaller({ address, transport, now, onCall }: CallerOptions): Caller {
  const basePath = new URL(address).pathname.replace(/\/+$/, '');
  return async (endpoint, options, contradiction) => {
    const contract: EndpointContract = ENDPOINTS[endpoint];
    const startedAt = now();
    const exchange = await transport.send({
      method: contract.method,
      path: basePath + pathOf(contract, options),
      headers: {
        accept: 'application/json',
        // Bodies are small, and a compressed one would need a limit on what it unpacks to.
        'accept-encoding': 'identity',
        'user-agent': 'reseller-fulfilment',
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: options.body }),
      deadlineMs: options.deadlineMs,
      ...(options.leaseLeftMs === undefined ? {} : { leaseLeftMs: options.leaseLeftMs }),
      // A server may close an idle connection at the moment it is used again. For what changes something that would
      // make an unknown out of nothing, so each such call has a connection of its own.
      ownConnection: contract.method === 'POST' && contract.authorized,
    });
    // The endpoint's own schema: the compiler cannot follow the name through the table.
    const read = (body: unknown, link: string | undefined) =>
      readBody(contract, body, link) as BodyResult<AnswerOf<typeof endpoint>>;
    const result = judgeResult(exchange, { read, contradiction }, now());
    report(onCall, {
      endpoint,
      outcome: result.ok ? 'ok' : result.failure,
      durationMs: Math.max(0, now() - startedAt),
      ...(result.status === undefined ? {} : { status: result.status }),
      ...(result.ok && result.unused !== undefined ? { unused: result.unused } : {}),
    });
    return result;
  };
}

function pathOf(contract: EndpointContract, { id = '', query = {} }: CallOptions): string {
  const path = contract.path.replace('{id}', pathSegment(id));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(serviceParameter(name, VARIANTS), value);
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** An id as one segment of a path; a lone `.` or `..` would be a step in the path instead. */
function pathSegment(id: string): string {
  const encoded = encodeURIComponent(id.toWellFormed());
  return /^\.{1,2}$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

function report(onCall: CallerOptions['onCall'], event: CallEvent): void {
  try {
    onCall?.(event);
  } catch {
    // The result of a purchase must not be lost to a mistake in a metric.
  }
}
