import type * as z from 'zod';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { type SpanOptions, inSpan, traceHeaders } from '#telemetry/tracing.ts';
import {
  type BodyResult,
  type Match,
  type ServiceResult,
  type Unused,
  judgeResult,
} from '#upstream/client/error-mapping.ts';
import type { HttpTransport } from '#upstream/client/http.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName, type Misstating, itemOf } from '#upstream/contract.ts';
import { serviceParameter } from '#upstream/contract/variants.ts';
import { type ListPage, readBody } from '#upstream/reading/answer.ts';
import type { ServiceOptions } from '#upstream/service.ts';

export type ListName = Extract<EndpointName, `list${string}`>;
export type ItemOf<Name extends ListName> = z.output<(typeof ENDPOINTS)[Name]['answer']>['data'][number] & Misstating;

export type AnswerOf<Name extends EndpointName> = Name extends ListName
  ? ListPage<ItemOf<Name>>
  : z.output<(typeof ENDPOINTS)[Name]['answer']> & Misstating;

/** For metrics. Contains no data of the request or the answer. */
export interface CallEvent {
  readonly endpoint: EndpointName;
  readonly outcome: 'ok' | FailureClass;
  readonly durationMs: number;
  readonly status?: number;
  readonly unused?: Unused;
  readonly differing?: readonly string[];
}

export interface CallOptions {
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly deadlineMs: number;
  /** Remaining milliseconds of the lease. Absent for calls that two processes may make at the same time. */
  readonly leaseLeftMs?: (() => number) | undefined;
  /** An answer that repeats this reference or eSIM is about this request. */
  readonly names?: string;
}

/** Makes one HTTP request. Never throws. */
export type Caller = <Name extends EndpointName>(
  endpoint: Name,
  options: CallOptions,
  match?: Match<AnswerOf<Name>>,
) => Promise<ServiceResult<AnswerOf<Name>>>;

export function createCaller(
  transport: HttpTransport,
  address: string,
  { now, onCall }: Pick<ServiceOptions, 'now' | 'onCall'>,
): Caller {
  const { pathname, hostname } = new URL(address);
  const basePath = pathname.replace(/\/+$/, '');
  return (endpoint, options, match) =>
    inSpan(`${ENDPOINTS[endpoint].method} ${ENDPOINTS[endpoint].path}`, spanOf(endpoint, hostname), async (span) => {
      const contract: EndpointContract = ENDPOINTS[endpoint];
      const startedAt = now();
      const exchange = await transport.send({
        method: contract.method,
        path: basePath + pathOf(contract, options),
        headers: {
          accept: 'application/json',
          // A compressed answer would need a second limit, for its unpacked size.
          'accept-encoding': 'identity',
          'user-agent': 'reseller-fulfilment',
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...options.headers,
          ...traceHeaders(span),
        },
        ...(options.body === undefined ? {} : { body: options.body }),
        deadlineMs: options.deadlineMs,
        ...(options.leaseLeftMs === undefined ? {} : { leaseLeftMs: options.leaseLeftMs }),
        // A server may close an idle connection at the moment of its reuse, which would make the result of a purchase
        // unknown. So each call that changes something has its own connection.
        ownConnection: contract.method === 'POST' && contract.withoutToken !== true,
        answerLimitBytes: limitOf(contract),
      });
      // A cast: the compiler cannot connect the name of the endpoint with its schema in the table.
      const read = (body: unknown, link: string | undefined) =>
        readBody(contract, body, link) as BodyResult<AnswerOf<typeof endpoint>>;
      const expected = { read, match, names: options.names ?? options.id, sent: options.body };
      const result = judgeResult(exchange, expected, now());
      report(onCall, {
        endpoint,
        outcome: result.ok ? 'ok' : result.failure,
        durationMs: Math.max(0, now() - startedAt),
        ...(result.status === undefined ? {} : { status: result.status }),
        ...(result.ok && result.unused !== undefined ? { unused: result.unused } : {}),
        ...(result.ok && result.differing !== undefined ? { differing: result.differing } : {}),
      });
      if (result.status !== undefined) span.set({ 'http.response.status_code': result.status });
      if (!result.ok) span.fail(result.failure);
      return result;
    });
}

function limitOf({ answer, record }: EndpointContract): number {
  const isLong = itemOf(answer) !== undefined || record === 'document';
  return isLong ? ANSWER_LIMITS.listBytes : ANSWER_LIMITS.recordBytes;
}

/** Ids of the service and queries stay out of the span. */
function spanOf(endpoint: EndpointName, address: string): SpanOptions {
  const { method, path }: EndpointContract = ENDPOINTS[endpoint];
  return {
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.template': path,
      'server.address': address,
      'reseller.service.call': endpoint,
    },
  };
}

function pathOf(contract: EndpointContract, { id = '', query = {} }: CallOptions): string {
  const path = contract.path.replace('{id}', pathSegment(id));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const sentAs = serviceParameter(name);
    if (value !== undefined && sentAs !== null) search.set(sentAs, value);
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** `.` and `..` are escaped: as segments of a path they would change it. */
function pathSegment(id: string): string {
  const encoded = encodeURIComponent(id.toWellFormed());
  return /^\.{1,2}$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

function report(onCall: ServiceOptions['onCall'], event: CallEvent): void {
  try {
    onCall?.(event);
  } catch {
    // An error in a metric must not lose the result of a purchase.
  }
}
