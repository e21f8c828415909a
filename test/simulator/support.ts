import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import * as z from 'zod';
import type { SimulatorOptions } from '#simulator/options.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { signatureOf } from '#simulator/webhooks/queue.ts';
import { close, listen } from '#telemetry/http-server.ts';
import { HttpClient, type HttpAnswer, type HttpCall } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { serviceErrorBody, serviceOrder, serviceWallet } from '#upstream/contract.ts';

export const EMAIL = 'reseller@example.com';
export const PASSWORD = 'simulator-password';
export const LOGIN = { email: EMAIL, password: PASSWORD, device_name: 'test' };

/** 2.40 USD, 1 GB in Spain for 7 days, completed at once. */
export const PACKAGE = 1001;
/** 2.90 USD, 30 days, active at once. */
export const PLAN = 301;

const VPN_CUSTOMER = { customer_reference: 'customer-1', customer_price: 5.5 };

const ledgerPage = z.object({
  data: z.array(
    z.object({
      type: z.enum(['debit', 'credit']),
      amount: z.string(),
      reason: z.string(),
      order_id: z.string().nullable(),
      external_order_id: z.string().nullable(),
      esim_id: z.string().nullable(),
      topup_id: z.string().nullable(),
      refund_id: z.string().nullable(),
      vpn_subscription_id: z.string().nullable(),
      balance_after: z.string(),
    }),
  ),
});
export type LedgerLine = z.output<typeof ledgerPage>['data'][number];

const requestPage = z.object({ data: z.array(z.object({ path: z.string(), endpoint: z.string().nullable() })) });

/** Calls of a running simulator, as its reseller and as its operator. */
export class SimulatorClient {
  readonly admin: HttpClient;
  /** Without a token. */
  readonly open: HttpClient;
  /** With a sandbox token. */
  readonly sandbox: HttpClient;
  /** With a production token. */
  readonly production: HttpClient;
  readonly tokens: { readonly sandbox: string; readonly production: string };

  constructor(url: string, tokens: { sandbox: string; production: string }) {
    const base = `${url}/api/reseller/v1`;
    this.tokens = tokens;
    this.admin = new HttpClient(`${url}/simulator`);
    this.open = new HttpClient(base);
    this.sandbox = new HttpClient(`${base}/sandbox`, { authorization: `Bearer ${tokens.sandbox}` });
    this.production = new HttpClient(base, { authorization: `Bearer ${tokens.production}` });
  }

  /** `POST /orders` in the sandbox. @param key fresh unless given. */
  async order(body: unknown = {}, key: string = randomUUID(), call: HttpCall = {}): Promise<HttpAnswer> {
    const full = typeof body === 'object' ? { package_id: PACKAGE, external_order_id: randomUUID(), ...body } : body;
    return this.sandbox.post('/orders', full, { ...call, headers: { 'idempotency-key': key, ...call.headers } });
  }

  /** `POST /topups` in the sandbox. */
  async topUp(esim_id: string, package_id = PACKAGE, key: string = randomUUID()): Promise<HttpAnswer> {
    return this.sandbox.post('/topups', { esim_id, package_id }, { headers: { 'idempotency-key': key } });
  }

  /** `POST /esims/{id}/cancel` in the sandbox. */
  async cancel(esimId: string, key: string = randomUUID()): Promise<HttpAnswer> {
    return this.sandbox.post(`/esims/${esimId}/cancel`, undefined, { headers: { 'idempotency-key': key } });
  }

  /** `POST /vpn/orders` in the sandbox. */
  async orderVpn(body: Record<string, unknown> = {}, key: string = randomUUID()): Promise<HttpAnswer> {
    const full = { vpn_plan_id: PLAN, external_subscription_id: randomUUID(), ...VPN_CUSTOMER, ...body };
    return this.sandbox.post('/vpn/orders', full, { headers: { 'idempotency-key': key } });
  }

  /** Buys an eSIM in the sandbox. @returns its id. */
  async esim(package_id = PACKAGE): Promise<string> {
    return (await this.order({ package_id })).textAt('esim_id');
  }

  /** Simulates the phone of a sandbox eSIM. */
  async simulate(esimId: string, state: string): Promise<HttpAnswer> {
    return this.sandbox.post(`/esims/${esimId}/simulate`, { state });
  }

  async advance(ms: number): Promise<void> {
    await this.admin.post('/clock/advance', { ms });
  }

  /** Epoch milliseconds. */
  async now(): Promise<number> {
    return Date.parse((await this.admin.get('/state')).textAt('time'));
  }

  async balance(): Promise<string> {
    return (await this.sandbox.get('/wallet')).read(serviceWallet).balance;
  }

  async ledger(environment: 'sandbox' | 'production' = 'sandbox'): Promise<LedgerLine[]> {
    return (await this.admin.get(`/ledger?environment=${environment}&limit=10000`)).read(ledgerPage).data;
  }

  /** The debits of one reference. */
  async debits(reference: string): Promise<LedgerLine[]> {
    const lines = await this.ledger();
    return lines.filter(({ type, external_order_id }) => type === 'debit' && external_order_id === reference);
  }

  async requests(filter = '') {
    return (await this.admin.get(`/requests?${filter}`)).read(requestPage).data;
  }

  async orderReaches(id: string, status: string): Promise<z.output<typeof serviceOrder>> {
    return waitFor(`order ${id} is ${status}`, async () => {
      const order = (await this.sandbox.get(`/orders/${id}`)).read(serviceOrder);
      return order.status === status ? order : undefined;
    });
  }
}

/** Logs in to both environments of a running simulator. */
export async function connect(url: string): Promise<SimulatorClient> {
  const login = async (base: string) => (await new HttpClient(base).post('/login', LOGIN)).textAt('access_token');
  const base = `${url}/api/reseller/v1`;
  const [sandbox, production] = await Promise.all([login(`${base}/sandbox`), login(base)]);
  return new SimulatorClient(url, { sandbox, production });
}

/** A simulator in this process with clients; stopped by `await using`. */
export async function startTestSimulator(options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ seed: 'test', processingDelayMs: 20, webhookRetryDelayMs: 10, ...options });
  const client = await connect(simulator.url);
  return Object.assign(client, { simulator, [Symbol.asyncDispose]: () => simulator.close() });
}

function webhookOf(headers: IncomingHttpHeaders, body: Buffer) {
  const header = (name: string): string => String(headers[`x-service-${name}`] ?? '');
  const [event, deliveryId] = [header('event'), header('delivery')];
  const [timestamp, signature] = [header('timestamp'), header('signature')];
  const isSignedWith = (secret: string) => signatureOf(secret, timestamp, body) === signature;
  return { headers, event, deliveryId, timestamp, signature, body, isSignedWith };
}
type ReceivedWebhook = ReturnType<typeof webhookOf>;

/** The answer of the receiver, by the number of the delivery from 1. */
type Reply = (response: ServerResponse, webhook: ReceivedWebhook, number: number) => void;

/** A local webhook endpoint that stores all requests. */
export async function startReceiver(reply: Reply = (response) => response.writeHead(204).end()) {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const webhook = webhookOf(request.headers, Buffer.concat(chunks));
      received.push(webhook);
      reply(response, webhook, received.length);
    });
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    /** Waits for this number of webhooks. */
    async count(wanted: number): Promise<readonly ReceivedWebhook[]> {
      await waitFor(`${wanted} webhooks have arrived`, () => received.length >= wanted, {
        context: () => received.map(({ event, deliveryId }) => `${event} ${deliveryId}`).join('\n'),
      });
      return received;
    },
    [Symbol.asyncDispose]: async () => await close(server, 'all'),
  };
}

/** The names of the refused fields. */
export function fieldsOf(answer: HttpAnswer): string[] {
  return Object.keys(answer.read(serviceErrorBody).error.fields ?? {});
}

/** The status and the code of an answer. */
export const codeOf = (answer: HttpAnswer) => [answer.status, answer.at('error', 'code')];
