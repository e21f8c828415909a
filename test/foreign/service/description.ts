/** Describes the foreign service in its OpenAPI document, by asking a copy of it. */
import { ACCOUNT, type Books, type SaleKind } from '#test/foreign/service/books.ts';
import { openApiOf, type DescribedCall, type DescribedEvent } from '#test/foreign/service/document.ts';
import type { RecordKind, Style } from '#test/foreign/service/style.ts';

export interface SentEvent {
  readonly kind: string;
  readonly record: RecordKind;
  readonly body: unknown;
}

/** A copy of the service that nobody uses. */
export interface Copy {
  /** @returns the body of the answer. */
  ask(method: 'GET' | 'POST', path: string, body?: object): unknown;
  readonly books: Books;
  /** Ends the purchases in progress. */
  finish(): void;
  events(): readonly SentEvent[];
}

type Described = Omit<DescribedCall, 'answers'>;

const LISTS: readonly Described[] = [
  { method: 'get', path: '/packages', record: 'package' },
  { method: 'get', path: '/vpn/plans', record: 'plan' },
  { method: 'get', path: '/orders', record: 'order', query: ['external_order_id'] },
  { method: 'get', path: '/topups', record: 'topup', query: ['esim_id'] },
  { method: 'get', path: '/vpn/subscriptions', record: 'subscription', query: ['external_subscription_id'] },
  { method: 'get', path: '/refunds', record: 'refund', query: ['esim_id'] },
  { method: 'get', path: '/wallet/transactions', record: 'transaction', query: ['since', 'external_order_id'] },
];

const OTHER_KINDS = {
  'order.completed': ['order.processing', 'order.failed'],
  'topup.completed': ['topup.processing', 'topup.failed'],
  'vpn.subscription.active': ['vpn.subscription.expired', 'vpn.subscription.failed'],
  'refund.completed': ['refund.failed'],
} as const satisfies Record<string, readonly string[]>;

/** Buys and cancels at the copy, and describes its answers. */
export function describe(style: Style, copy: Copy): unknown {
  const { sales, esims } = copy.books;
  const idOf = (kind: SaleKind) => sales.findLast((sale) => sale.kind === kind)?.id ?? '';
  const esimId = esims[0]?.id ?? '';
  const topup = { esim_id: esimId, package_id: 700 };
  const paging = style.list === 'offset' ? ['offset', 'limit'] : ['page', 'cursor', 'limit'];
  const answers = new Map<string, unknown[]>();
  const add = (key: string, answer: unknown) => answers.set(key, [...(answers.get(key) ?? []), answer]);
  const note = (path: string, asked = path, method: 'GET' | 'POST' = 'GET', body?: object) =>
    add(`${method} ${path}`, copy.ask(method, asked, body));
  note('/login', '/login', 'POST', LOGIN);
  note('/orders', '/orders', 'POST', ORDER);
  note('/topups', '/topups', 'POST', topup);
  note('/vpn/orders', '/vpn/orders', 'POST', VPN_ORDER);
  const ids = { order: idOf('order'), topup: idOf('topup'), subscription: idOf('subscription') };
  for (const isEnded of [false, true]) {
    if (isEnded) copy.finish();
    for (const { path } of LISTS) note(path);
    note('/orders/{id}', `/orders/${ids.order}`);
    note('/topups/{id}', `/topups/${ids.topup}`);
    note('/vpn/subscriptions/{id}', `/vpn/subscriptions/${ids.subscription}`);
  }
  // A purchase may also be completed in its answer.
  add('POST /orders', copy.ask('GET', `/orders/${ids.order}`));
  add('POST /topups', copy.ask('GET', `/topups/${ids.topup}`));
  add('POST /vpn/orders', copy.ask('GET', `/vpn/subscriptions/${ids.subscription}`));
  note('/wallet');
  note('/updates/latest');
  for (const part of ['', '/usage', '/topup-options']) note(`/esims/{id}${part}`, `/esims/${esimId}${part}`);
  note('/esims/{id}/cancel', `/esims/${esimId}/cancel`, 'POST');
  note('/refunds');
  note('/refunds/{id}', `/refunds/${copy.books.refunds[0]?.id ?? ''}`);
  note('/vpn/subscriptions/{id}/cancel', `/vpn/subscriptions/${ids.subscription}/cancel`, 'POST');
  const calls: readonly Described[] = [
    { method: 'post', path: '/login', record: 'access', body: LOGIN, isOpen: true },
    ...LISTS.map((list) => ({ ...list, query: [...(list.query ?? []), ...paging] })),
    { method: 'post', path: '/orders', record: 'order', body: ORDER, hasKey: true },
    { method: 'get', path: '/orders/{id}', record: 'order' },
    { method: 'post', path: '/topups', record: 'topup', body: topup, hasKey: true },
    { method: 'get', path: '/topups/{id}', record: 'topup' },
    { method: 'post', path: '/vpn/orders', record: 'subscription', body: VPN_ORDER, hasKey: true },
    { method: 'get', path: '/vpn/subscriptions/{id}', record: 'subscription' },
    { method: 'post', path: '/vpn/subscriptions/{id}/cancel', record: 'subscription' },
    { method: 'get', path: '/esims/{id}', record: 'esim' },
    { method: 'get', path: '/esims/{id}/usage', record: 'usage' },
    { method: 'get', path: '/esims/{id}/topup-options', record: 'package' },
    { method: 'post', path: '/esims/{id}/cancel', record: 'cancellation', hasKey: true },
    { method: 'get', path: '/refunds/{id}', record: 'refund' },
    { method: 'get', path: '/wallet', record: 'wallet' },
    { method: 'get', path: '/updates/latest', record: 'update', query: ['current_version', 'channel'] },
  ];
  const described = calls.map((call) => {
    return { ...call, answers: answers.get(`${call.method.toUpperCase()} ${call.path}`) ?? [] };
  });
  return openApiOf(style, described, eventsOf(copy));
}

function eventsOf(copy: Copy): readonly DescribedEvent[] {
  const seen = new Map<string, DescribedEvent>();
  for (const { kind, record, body } of copy.events()) {
    for (const each of [kind, ...(Object.entries(OTHER_KINDS).find(([name]) => name === kind)?.[1] ?? [])])
      seen.set(each, { kind: each, record, bodies: [...(seen.get(each)?.bodies ?? []), renamed(body, kind, each)] });
  }
  return [...seen.values()];
}

function renamed(body: unknown, from: string, to: string): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [name, value === from ? to : value]),
  );
}

const LOGIN = { ...ACCOUNT, device_name: 'copy', expires_in_days: 1 };
const ORDER = { package_id: 700, external_order_id: 'copy-1', device_imei: '490154203237518' };
const VPN_ORDER = { vpn_plan_id: 41, external_subscription_id: 'copy-2', customer_reference: 'c', customer_price: 4.5 };
