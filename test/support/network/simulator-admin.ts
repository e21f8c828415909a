/** The simulator's admin API, typed for tests: faults to inject, and records of the service. */
import * as z from 'zod';
import type { behaviourRule } from '#simulator/behaviour/behaviours.ts';
import type { DialectName } from '#simulator/behaviour/dialect.ts';
import type { faultRule, requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import type { Shape, ShapeName } from '#simulator/shapes/shape.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';

const ledgerLine = z.object({
  environment: z.string(),
  type: z.enum(['debit', 'credit']),
  amount: z.string(),
  currency: z.string(),
  reason: z.string(),
  order_id: z.string().nullable(),
  external_order_id: z.string().nullable(),
  esim_id: z.string().nullable(),
  topup_id: z.string().nullable(),
  refund_id: z.string().nullable(),
  external_subscription_id: z.string().nullable(),
  created_at: z.string(),
});
export type LedgerLine = z.output<typeof ledgerLine>;

const sold = z.object({
  id: z.string(),
  external_order_id: z.string(),
  package_id: z.number(),
  status: z.enum(['processing', 'completed', 'failed']),
  esim_id: z.string().nullable(),
  price_for_reseller: z.string(),
  currency: z.string(),
});

const soldRefund = z.object({
  id: z.string(),
  esim_id: z.string(),
  status: z.enum(['processing', 'completed', 'failed']),
  review: z.string().nullable(),
  cancellation: z.enum(['processing', 'cancelled', 'refused']),
});
/** A cancellation with its refund at the service. */
export type SoldRefund = z.output<typeof soldRefund>;

const recharge = z.object({
  id: z.string(),
  esim_id: z.string(),
  package_id: z.number(),
  status: z.enum(['processing', 'completed', 'failed']),
});

const subscription = z.object({
  id: z.string(),
  external_subscription_id: z.string(),
  status: z.string(),
  cancelled_at: z.string().nullish(),
});

const delivery = z.object({
  id: z.string(),
  event: z.string(),
  order_id: z.string().nullable(),
  status: z.enum(['pending', 'delivered', 'exhausted', 'lost', 'no_target']),
  tampering: z.object({ delivery_id: z.string().optional() }).nullable(),
  body: z.string(),
  attempts: z.array(
    z.object({
      sent_at: z.iso.datetime(),
      timestamp: z.string(),
      status: z.number().nullable(),
      duration_ms: z.number().nullable(),
    }),
  ),
});

const request = z.object({
  sequence: z.number(),
  endpoint: z.string().nullable(),
  body_sha256: z.string(),
  received_at: z.iso.datetime().transform((text) => Date.parse(text)),
  /** Status of the result; null if the request was not executed. */
  result_status: z.number().nullable(),
  /** Status of the sent answer; null if none was sent yet. */
  status: z.number().nullable(),
  faults: z.array(z.string()),
});
export type ReceivedRequest = z.output<typeof request>;

const firedRule = z.object({
  id: z.string(),
  fault: z.object({ kind: z.string() }),
  hits: z.number(),
  fired: z.number(),
});

/** The calls or webhooks that have a fault. */
interface Rule {
  nth?: number;
  count?: number | null;
  probability?: number;
}

const PAGE = 1_000;
const filter = (name: string, value: string | undefined) =>
  value === undefined ? '' : `&${name}=${encodeURIComponent(value)}`;

export class SimulatorAdmin {
  readonly #http: HttpClient;

  /** @param http with the simulator's base address. */
  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Injects a fault into the next call of an endpoint, or into the calls that `rule` selects. */
  async onRequest(
    endpoint: Extract<z.input<typeof faultRule>, { target: 'request' }>['endpoint'],
    fault: z.input<typeof requestFault>,
    rule: Rule = {},
  ): Promise<void> {
    await this.#post('/faults', { target: 'request', endpoint, fault, ...rule } satisfies z.input<typeof faultRule>);
  }

  /** Injects a fault into the next webhook of a type, or into the webhooks that `rule` selects. */
  async onWebhook(event: string | undefined, fault: z.input<typeof webhookFault>, rule: Rule = {}): Promise<void> {
    const named = event === undefined ? {} : { event };
    await this.#post('/faults', { target: 'webhook', ...named, fault, ...rule } satisfies z.input<typeof faultRule>);
  }

  /** Sets the result of the next purchase, or of the next `count`. */
  readonly nextPurchases = (rule: z.input<typeof behaviourRule>) =>
    this.#act('/behaviour', { count: 1, ...rule } satisfies z.input<typeof behaviourRule>);

  /** All fault rules, with the number of times they fired. */
  async faults() {
    return (await this.#get('/faults')).read(z.object({ data: z.array(firedRule) })).data;
  }

  /** Removes all injected faults and results. Orders, wallet and logs stay. */
  async calm(): Promise<void> {
    await Promise.all([this.#delete('/faults'), this.#delete('/behaviour'), this.dialect('replays')]);
  }

  readonly dialect = (name: DialectName, properties: Record<string, unknown> = {}) =>
    this.#act('/dialect', { name, properties });
  /** Sets the form of all following answers, events and headers. */
  readonly shape = (name: ShapeName, properties: Partial<Shape> = {}) => this.#act('/shape', { name, properties });
  readonly setPackage = (id: number, change: { price_for_reseller?: string; available?: boolean }) =>
    this.#act(`/packages/${id}`, change);
  /** Lists a package, or replaces the one with this id. */
  readonly addPackage = (added: {
    id: number;
    name: string;
    price_for_reseller: string;
    countries?: readonly string[];
    data_mb?: number | null;
    validity_days?: number;
    available?: boolean;
  }) => this.#act('/packages', added);
  readonly removeItem = (list: 'packages' | 'vpn-plans', id: number) => this.#delete(`/${list}/${id}`);
  readonly deposit = (amount: string) => this.#act('/deposits', { environment: 'sandbox', amount });
  /** A manual movement in the service's wallet, for one sale or none. */
  readonly move = (movement: {
    type: 'debit' | 'credit';
    amount: string;
    reason: string;
    order_id?: string;
    topup_id?: string;
    vpn_subscription_id?: string;
  }) => this.#act('/movements', { environment: 'sandbox', ...movement });
  readonly advanceClock = (ms: number) => this.#act('/clock/advance', { ms });
  readonly completeOrder = (id: string) => this.#act(`/orders/${id}/complete`);

  /** Sends a webhook with any content. @returns its delivery id at the simulator. */
  async sendWebhook(webhook: { event: string; data: unknown } & Record<string, unknown>): Promise<string> {
    return (await this.#post('/webhooks/send', webhook)).textAt('id');
  }

  readonly replayDelivery = (id: string) => this.#act(`/deliveries/${id}/replay`);

  /** Movements of the sandbox wallet, oldest first. */
  readonly ledger = () => this.#all('/ledger?environment=sandbox', ledgerLine);
  /** @param reference of one attempt. The default is all orders. */
  readonly orders = (reference?: string) =>
    this.#all(`/orders?environment=sandbox${filter('external_order_id', reference)}`, sold);
  readonly topups = () => this.#all('/topups?environment=sandbox', recharge);
  readonly subscriptions = () => this.#all('/vpn-subscriptions?environment=sandbox', subscription);
  readonly completeSubscription = (id: string) => this.#act(`/vpn-subscriptions/${id}/complete`);
  readonly endSubscription = (id: string, end: 'expire' | 'cancel') => this.#act(`/vpn-subscriptions/${id}/${end}`);
  readonly setPlan = (id: number, change: { price_for_reseller?: string; available?: boolean }) =>
    this.#act(`/vpn-plans/${id}`, change);
  /** Sets the decision about a refund, or the result of its payment. */
  readonly decideRefund = (id: string, decision: 'accept' | 'refuse' | 'complete' | 'fail') =>
    this.#act(`/refunds/${id}/${decision}`);

  /** @param esimId the service's id. The default is all eSIMs. */
  readonly refunds = (esimId?: string) =>
    this.#all(`/refunds?environment=sandbox${filter('esim_id', esimId)}`, soldRefund);
  readonly simulateEsim = (id: string, state: 'installed' | 'active' | 'consumed') =>
    this.#act(`/esims/${id}/state`, { state });
  readonly completeTopup = (id: string) => this.#act(`/topups/${id}/complete`);

  readonly requests = (endpoint: string, idempotencyKey?: string) =>
    this.#all(`/requests?endpoint=${endpoint}${filter('idempotency_key', idempotencyKey)}`, request);
  /** @param orderId the service's id. The default is all webhooks. */
  readonly webhooks = (orderId?: string) =>
    this.#all(`/deliveries?environment=sandbox${filter('order_id', orderId)}`, delivery);

  async #all<Item extends z.ZodType>(path: string, item: Item): Promise<z.output<Item>[]> {
    const page = z.object({ data: z.array(item), next_after: z.number().nullable() });
    const items: z.output<Item>[] = [];
    for (let after: number | null = 0; after !== null;) {
      const answer: z.output<typeof page> = (await this.#get(`${path}&limit=${PAGE}&after=${after}`)).read(page);
      items.push(...answer.data);
      after = answer.next_after;
    }
    return items;
  }

  async #act(path: string, body: unknown = {}): Promise<void> {
    await this.#post(path, body);
  }

  #get(path: string): Promise<HttpAnswer> {
    return this.#call('GET', path);
  }

  #post(path: string, body: unknown): Promise<HttpAnswer> {
    return this.#call('POST', path, body);
  }

  async #delete(path: string): Promise<void> {
    await this.#call('DELETE', path);
  }

  async #call(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    const answer = await this.#http.call(method, `/simulator${path}`, { body });
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`the simulator answered ${answer.status}: ${answer.text}`);
    return answer;
  }
}
