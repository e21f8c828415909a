/**
 * A reseller service of another author, over HTTP on this machine. It is made from the specification and from the habits
 * of public interfaces, and knows nothing of the product or its simulator. Where the specification shows no path, it
 * answers at the paths that our contract assumes.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { close, listen } from '#telemetry/http-server.ts';
import { USUAL, type Behaviour } from '#test/foreign/service/behaviour.ts';
import { ACCOUNT, Books, type Esim, type Sale, type SaleKind } from '#test/foreign/service/books.ts';
import { describe, type Copy, type SentEvent } from '#test/foreign/service/description.ts';
import {
  FAULT_BODY,
  jsonOf,
  listed,
  presented,
  wrapped,
  type Fault,
  type Plain,
} from '#test/foreign/service/present.ts';
import { Records } from '#test/foreign/service/records.ts';
import { isFault, Shop } from '#test/foreign/service/shop.ts';
import { styleOf, type RecordKind, type Style, type StyleName } from '#test/foreign/service/style.ts';
import { eventBody, WebhookSender } from '#test/foreign/service/webhooks.ts';

const BASE = '/api/reseller/v1';
/** The service's own page size; it reads no other. */
const PAGE_SIZE = 10;

/** An answer before it is written. */
interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly link?: string | undefined;
  /** The service has acted, and the connection breaks. */
  readonly isLost?: boolean;
}

export class ForeignService {
  readonly behaviour: Behaviour;
  readonly books: Books;
  /** The paths of all requests that buy or cancel, oldest first. */
  readonly received: string[] = [];
  readonly #name: StyleName;
  readonly #records: Records;
  readonly #shop: Shop;
  readonly #server: Server;
  readonly #token = `foreign-${randomUUID()}`;
  readonly #known = new Map<string, Reply>();
  readonly #events: SentEvent[] = [];
  #webhooks: WebhookSender | undefined;

  constructor(style: StyleName, behaviour: Partial<Behaviour> = {}) {
    this.#name = style;
    this.behaviour = { ...USUAL, ...behaviour };
    this.books = new Books(styleOf(style), Date.now);
    this.#records = new Records(this.books, this.behaviour, Date.now);
    this.#shop = new Shop(this.books, this.behaviour, {
      ended: (sale, ending) => this.#reportSale(sale, ending),
      cancelled: (esim, refund) => {
        this.#report('esim.cancelled', 'cancellation', this.#records.cancellation(esim, refund));
        this.#report('refund.completed', 'refund', this.#records.refund(refund));
      },
    });
    if (this.behaviour.shows.purchases) this.books.addEarlierPurchases();
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** @returns the base address. */
  async start(): Promise<string> {
    const port = await listen(this.#server, { host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${port}${BASE}`;
  }

  sendWebhooksTo(url: string, secret: string): void {
    this.#webhooks = new WebhookSender(url, secret);
  }

  async stop(): Promise<void> {
    this.#shop.stop();
    await this.#webhooks?.stop();
    await close(this.#server, 'all');
  }

  get #style(): Style {
    const { changes } = this.behaviour;
    const hasChanged = changes !== undefined && this.#shop.purchases >= changes.after;
    return styleOf(hasChanged ? changes.to : this.#name);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const path = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length) : '/elsewhere';
    const isAllowed = path === '/login' || request.headers.authorization === `Bearer ${this.#token}`;
    const sent = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as Plain);
    const key = String(request.headers['idempotency-key'] ?? '');
    const reply = isAllowed
      ? this.#answer(request.method ?? 'GET', path, url, { sent, key })
      : this.#refused({ status: 401, code: 'unauthenticated', message: 'Unauthenticated.' });
    if (reply.isLost === true) {
      request.socket.destroy();
      return;
    }
    const isText = typeof reply.body === 'string';
    response.setHeader('content-type', isText ? 'text/html' : 'application/json');
    if (reply.link !== undefined) response.setHeader('link', reply.link);
    response.writeHead(reply.status).end(isText ? reply.body : jsonOf(reply.body));
  }

  #answer(method: string, path: string, url: URL, { sent, key }: { sent: Plain; key: string }): Reply {
    const [, id = ''] = /^\/(?:orders|topups|esims|refunds|vpn\/subscriptions)\/([^/]+)/.exec(path) ?? [];
    const records = this.#records;
    const { packages, plans, sales, refunds } = this.books;
    const query = (name: string, value: string | null) =>
      url.searchParams.get(name) === null || url.searchParams.get(name) === value;
    switch (`${method} ${id === '' ? path : path.replace(id, '{id}')}`) {
      case 'POST /login':
        return this.#login(sent);
      case 'GET /openapi.json':
        return this.behaviour.shows.document ? { status: 200, body: this.document() } : this.#unknown();
      case 'GET /packages':
      case 'GET /esims/{id}/topup-options':
        return this.#list('package', packages, (each) => records.package(each), url);
      case 'GET /vpn/plans':
        return this.#list('plan', plans, (each) => records.plan(each), url);
      case 'POST /orders':
        return this.#once(key, path, () => this.#buy('order', sent, key));
      case 'POST /topups':
        return this.#once(key, path, () => this.#buy('topup', sent, key));
      case 'POST /vpn/orders':
        return this.#once(key, path, () => this.#buy('subscription', sent, key));
      case 'GET /orders':
        return this.#sales('order', url, ({ reference }) => query('external_order_id', reference));
      case 'GET /topups':
        return this.#sales('topup', url, ({ esimId }) => query('esim_id', esimId));
      case 'GET /vpn/subscriptions':
        return this.#sales('subscription', url, (sale) => query('external_subscription_id', sale.reference));
      case 'GET /orders/{id}':
      case 'GET /topups/{id}':
      case 'GET /vpn/subscriptions/{id}':
        return this.#found(sales, id, (sale) => this.#record(200, sale.kind, records.sale(sale, 'read')));
      case 'GET /esims/{id}':
        return this.#found(this.books.esims, id, (esim) => this.#record(200, 'esim', records.esim(esim)));
      case 'GET /esims/{id}/usage':
        return this.#found(this.books.esims, id, (esim) => this.#record(200, 'usage', records.usage(esim)));
      case 'POST /esims/{id}/cancel':
        return this.#found(this.books.esims, id, (esim) => this.#once(key, path, () => this.#cancel(esim)));
      case 'POST /vpn/subscriptions/{id}/cancel':
        return this.#found(sales, id, (sale) => this.#end(sale));
      case 'GET /refunds': {
        const wanted = refunds.filter(({ esimId }) => query('esim_id', esimId)).toReversed();
        return this.#list('refund', wanted, (each) => records.refund(each), url);
      }
      case 'GET /refunds/{id}':
        return this.#found(refunds, id, (refund) => this.#record(200, 'refund', records.refund(refund)));
      case 'GET /wallet':
        this.#shop.moveMoneyOfOthers();
        return this.#record(200, 'wallet', records.wallet());
      case 'GET /wallet/transactions': {
        if (this.behaviour.wallet.history === false) return this.#unknown();
        this.#shop.moveMoneyOfOthers();
        const since = Date.parse(url.searchParams.get('since') ?? '');
        const rows = this.#shop.rows(since).filter(({ sale }) => query('external_order_id', sale?.reference ?? null));
        return this.#list('transaction', rows, (row) => records.row(row), url);
      }
      case 'GET /updates/latest':
        return this.#record(200, 'update', records.update());
      default:
        return this.#unknown();
    }
  }

  #login({ email, password }: Plain): Reply {
    if (email !== ACCOUNT.email || password !== ACCOUNT.password)
      return this.#refused({ status: 401, code: 'unauthenticated', message: 'Wrong password.' });
    const access = { access_token: this.#token, token_type: 'Bearer', expires_at: Date.now() + 3_600_000 };
    return this.#record(200, 'access', access);
  }

  /** Answers a repeated key as the behaviour has it. */
  #once(key: string, path: string, act: () => Reply): Reply {
    this.received.push(path);
    const known = this.behaviour.keys === 'ignored' ? undefined : this.#known.get(key);
    if (known !== undefined)
      return this.behaviour.keys === 'replayed'
        ? { ...known, isLost: false }
        : this.#refused({ status: 409, code: 'idempotency_key_in_use', message: 'This key was used.' });
    const reply = act();
    this.#known.set(key, reply);
    return reply;
  }

  #buy(kind: SaleKind, sent: Plain, key: string): Reply {
    const isPlan = kind === 'subscription';
    const sale = this.#shop.buy({
      kind,
      productId: sent[isPlan ? 'vpn_plan_id' : 'package_id'],
      esimId: sent['esim_id'],
      reference: sent[isPlan ? 'external_subscription_id' : 'external_order_id'],
      key,
    });
    if (isFault(sale)) return this.#refused(sale);
    const [whenCompleted, whenProcessing] = this.#style.accepted;
    const status = sale.status === 'processing' ? whenProcessing : whenCompleted;
    const isLost = this.behaviour.loses.includes(this.#shop.purchases);
    return { ...this.#record(status, kind, this.#records.sale(sale, 'answer')), isLost };
  }

  #cancel(esim: Esim): Reply {
    const refund = this.#shop.cancel(esim);
    if (isFault(refund)) return this.#refused(refund);
    return this.#record(200, 'cancellation', this.#records.cancellation(esim, refund));
  }

  #end(sale: Sale): Reply {
    const fault = this.#shop.end(sale);
    if (fault !== undefined) return this.#refused(fault);
    return this.#record(200, sale.kind, this.#records.sale(sale, 'answer'));
  }

  #reportSale(sale: Sale, ending: 'completed' | 'failed' | 'cancelled'): void {
    const isPlan = sale.kind === 'subscription';
    const outcome = isPlan && ending === 'completed' ? 'active' : ending;
    const subject = isPlan ? 'vpn.subscription' : sale.kind;
    this.#report(`${subject}.${outcome}`, sale.kind, this.#records.sale(sale, 'event'));
  }

  #report(kind: string, record: RecordKind, data: Plain): void {
    const { webhooks } = this.behaviour;
    const fields = webhooks === 'id_only' ? IDS : REFERENCES;
    const shown =
      webhooks === 'whole' || record === 'cancellation'
        ? data
        : Object.fromEntries(Object.entries(data).filter(([name]) => fields.includes(name)));
    const body = eventBody(this.#style, kind, record, shown);
    this.#events.push({ kind, record, body });
    if (webhooks !== 'none') this.#webhooks?.send(kind, body);
  }

  #sales(kind: SaleKind, url: URL, isWanted: (sale: Sale) => boolean): Reply {
    const sales = this.books.sales.filter((sale) => sale.kind === kind && isWanted(sale)).toReversed();
    return this.#list(kind, sales, (sale) => this.#records.sale(sale, 'list'), url);
  }

  /** One page of a list. */
  #list<Item>(kind: RecordKind, all: readonly Item[], shown: (item: Item) => Plain, url: URL): Reply {
    const asked = url.searchParams;
    const offset = Math.floor(Number(asked.get('offset') ?? 0) / PAGE_SIZE) + 1;
    const page = Number(asked.get('page') ?? asked.get('cursor') ?? offset);
    const wanted = all.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const items = wanted.map((each) => presented(this.#style, kind, shown(each)));
    const { body, link } = listed(this.#style, kind, { items, page, size: PAGE_SIZE, total: all.length, url });
    return { status: 200, body, link };
  }

  #record(status: number, kind: RecordKind, record: Plain): Reply {
    return { status, body: wrapped(this.#style, kind, presented(this.#style, kind, record)) };
  }

  #refused(fault: Fault): Reply {
    return { status: fault.status, body: FAULT_BODY[this.#style.errors](fault) };
  }

  #unknown(): Reply {
    return this.#refused({ status: 404, code: 'not_found', message: 'Not found.' });
  }

  #found<Item extends { readonly id: string }>(all: readonly Item[], id: string, answer: (item: Item) => Reply): Reply {
    const item = all.find((each) => each.id === id);
    return item === undefined ? this.#unknown() : answer(item);
  }

  /** The OpenAPI document: a copy of the service shows what it would answer. */
  document(): unknown {
    const { facts, wallet } = this.behaviour;
    const copy = new ForeignService(this.#name, { facts, wallet, completes: 'event' });
    const ask: Copy['ask'] = (method, path, sent = {}) =>
      copy.#answer(method, path, new URL(path, 'http://copy'), { sent: { ...sent }, key: randomUUID() }).body;
    return describe(styleOf(this.#name), {
      ask,
      books: copy.books,
      finish: () => copy.#shop.finishAll(),
      events: () => copy.#events,
    });
  }
}

const IDS: readonly string[] = ['id', 'esim_id'];
const REFERENCES: readonly string[] = ['external_order_id', 'external_subscription_id', 'esim_id'];
