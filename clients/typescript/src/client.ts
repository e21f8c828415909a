import { StillInProgressError } from './errors.ts';
import type { KnownValue } from './errors.ts';
import { EventStream, type StreamEventsQuery, type StreamOptions } from './events.ts';
import { FINAL_STATUSES, Operations, WORK_READS, type UnannouncedStatus } from './operations.ts';
import { Transport, type CallOptions, type OnResponse, type ResponseInfo, type TransportOptions } from './transport.ts';

/** The fields of work that waiting needs. */
export interface Work {
  readonly id: string;
  readonly status: string;
}

export interface WaitOptions<Status extends string> extends CallOptions {
  /** Statuses to wait for; a final status ends every wait. Default: `active` and `needs_attention`. */
  readonly until?: readonly Exclude<KnownValue<Status>, UnannouncedStatus>[];
  /** Milliseconds. Default: 60 s. */
  readonly timeoutMs?: number;
  /** What the result contains in addition, such as `activation` of an order. Each needs a scope. */
  readonly expand?: readonly ('access' | 'activation' | 'esim' | 'operations')[];
}

const DEFAULT_WAIT_MS = 60_000;
const POLL_MS = 500;
/** The longest wait that proxies usually allow. */
const LONGEST_POLL_SECONDS = 20;

/** After an answer that did not wait. */
function pauseAfter({ headers }: ResponseInfo): number {
  const seconds = headers.has('Preference-Applied')
    ? Number.NaN
    : Number.parseInt(headers.get('Retry-After') ?? '', 10);
  return Number.isNaN(seconds) ? POLL_MS : Math.max(POLL_MS, 1_000 * seconds);
}

/** A client of the reseller fulfilment API, with a method for each call, named as in the API's description. */
export class ResellerClient extends Operations {
  constructor(options: TransportOptions) {
    super(new Transport(options));
  }

  /** Follows events as they happen, and reconnects when needed. Scope: `events:read`. */
  streamEvents(query: StreamEventsQuery = {}, options: StreamOptions = {}): EventStream {
    return new EventStream(this.transport, query, options);
  }

  /**
   * Reads work until it has a final status or one of `until`: check its `status`.
   * @throws StillInProgressError after the time-out; the work continues.
   */
  async waitFor<Kind extends Work>(work: Kind, options: WaitOptions<Kind['status']> = {}): Promise<Kind> {
    const read = WORK_READS[work.id.split('_')[0] ?? ''];
    if (read === undefined)
      throw new TypeError(`${work.id} is no id of an order, a batch, a top-up, a subscription or a cancellation`);
    const enough = new Set<string>([...FINAL_STATUSES, ...(options.until ?? ['active', 'needs_attention'])]);
    const end = Date.now() + (options.timeoutMs ?? DEFAULT_WAIT_MS);
    const { until: _until, timeoutMs: _timeoutMs, expand = [], ...call } = options;
    for (let current: Kind = work; ;) {
      if (enough.has(current.status) && expand.every((name) => name in current)) return current;
      const leftMs = end - Date.now();
      if (leftMs <= 0) throw new StillInProgressError(`${work.id} is ${current.status}`, current);
      const wait = Math.max(1, Math.min(LONGEST_POLL_SECONDS, Math.floor(leftMs / 1_000)));
      const query = { ...(expand.length > 0 && { expand }), ...(read.waits && { wait, until: options.until }) };
      const path = `${read.path}/${encodeURIComponent(work.id)}`;
      const asked = Date.now();
      let pauseMs = POLL_MS;
      const onResponse: OnResponse = (response) => {
        pauseMs = pauseAfter(response);
        options.onResponse?.(response);
      };
      current = await this.transport.json<Kind>({
        operation: read.operation,
        method: 'GET',
        path,
        query,
        options: { ...call, onResponse, ...(read.waits ? { wait } : {}) },
      });
      // When too many requests wait, the API answers at once with Retry-After.
      if (!enough.has(current.status) && Date.now() - asked < pauseMs)
        await this.transport.sleep(Math.min(pauseMs, leftMs), options.signal);
    }
  }
}
