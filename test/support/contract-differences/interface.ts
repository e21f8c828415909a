import { breaking, note, text, type Difference, type Draft } from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import { EVENT_KINDS, NAMES_IN_EVENTS, type EventKind } from '#upstream/contract.ts';

const at = (make: typeof breaking, where: string, ...servers: readonly object[]) =>
  make(`the servers are ${where}`, 'document', (draft) => void (draft.document['servers'] = servers));

export function describeHeaders(draft: Draft, headers: Readonly<Record<string, Schema>>): void {
  const parameters = Object.entries(headers).map(([name, schema]) => ({ name, in: 'header', required: true, schema }));
  for (const kind of EVENT_KINDS) draft.event(kind)['parameters'] = parameters;
}

/** The headers of the specification with a prefix. @param other changed or further headers. */
export function headersOf(prefix: string, other: Readonly<Record<string, Schema>> = {}): Record<string, Schema> {
  const names = ['Event', 'Delivery', 'Timestamp', 'Signature'];
  return { ...Object.fromEntries(names.map((name) => [`${prefix}-${name}`, text()])), ...other };
}

/** The headers have this prefix, and one of them is missing or another one. */
function headers(make: typeof breaking, name: string, prefix: string, suffix: string, schema?: Schema): Difference {
  const header = `${prefix}-${suffix}`;
  const places = [...(prefix === 'X-Service' ? [] : ['document']), `document ${header}`];
  return make(name, places, (draft) => {
    const { [header]: _, ...others } = headersOf(prefix);
    describeHeaders(draft, schema === undefined ? others : { ...others, [header]: schema });
  });
}

function removeEvent(draft: Draft, kind: EventKind, to?: string): void {
  const webhooks = draft.document['webhooks'] as Schema;
  if (to !== undefined) webhooks[to] = webhooks[kind];
  Reflect.deleteProperty(webhooks, kind);
}

const NEEDED_EVENTS = EVENT_KINDS.filter((kind) => kind !== 'ping');

/** Differences of the address, the calls, the events and their headers. */
export const INTERFACE_DIFFERENCES: readonly Difference[] = [
  at(breaking, 'of version 2', { url: 'https://service.example/api/reseller/v2' }),
  at(breaking, 'of version 2 by a variable', {
    url: 'https://service.example/api/reseller/{version}/',
    variables: { version: { default: 'v2' } },
  }),
  at(
    breaking,
    'of another interface',
    { url: 'https://service.example/api/partner/v1' },
    { url: '/api/partner/v1/sandbox' },
  ),
  at(note, 'only a host', { url: 'https://service.example' }),
  breaking('orders are at version 2 alone', 'createOrder', (draft) => {
    draft.call('createOrder')['servers'] = [{ url: 'https://service.example/api/reseller/v2' }];
  }),
  breaking('a path is of version 2', 'listVpnPlans', (draft) => {
    const paths = draft.document['paths'] as Schema;
    paths['/api/reseller/v2/vpn/plans'] = paths['/vpn/plans'];
    Reflect.deleteProperty(paths, '/vpn/plans');
  }),
  ...NEEDED_EVENTS.map((kind) => breaking(`the event ${kind} is not sent`, kind, (draft) => removeEvent(draft, kind))),
  note('no ping is sent', 'ping', (draft) => removeEvent(draft, 'ping')),
  breaking('an event has another name', 'order.completed', (draft) => {
    draft.set('event order.completed', 'event', text({ const: 'order.fulfilled' }));
    removeEvent(draft, 'order.completed', 'order.fulfilled');
  }),
  breaking('the body has another name of an event', 'refund.completed', (draft) => {
    draft.set('event refund.completed', 'event', text({ const: 'REFUND_COMPLETED' }));
  }),
  breaking('the body of an event has its fields outside of data', 'order.failed data', (draft) => {
    draft.remove(['event order.failed'], 'data', undefined, () => '');
  }),
  breaking('the body of an event does not name it', 'topup.failed event', (draft) => {
    draft.remove(['event topup.failed'], 'event', 'subject', () => '');
  }),
  breaking('the data of an event names no subscription', 'vpn.subscription.active data', (draft) => {
    for (const name of NAMES_IN_EVENTS.subscription) draft.remove(['event vpn.subscription.active'], name);
  }),
  note('an event has no body', 'ping', (draft) => {
    Reflect.deleteProperty(draft.event('ping'), 'requestBody');
  }),
  breaking('the headers have a brand', 'document', (draft) => describeHeaders(draft, headersOf('X-Acme'))),
  headers(breaking, 'there is no timestamp', 'X-Service', 'Timestamp'),
  headers(breaking, 'there is no signature', 'X-Service', 'Signature'),
  headers(note, 'no header names the event', 'X-Service', 'Event'),
  headers(breaking, 'the headers have a brand and no signature', 'X-Acme', 'Signature'),
  headers(breaking, 'the timestamp is a date', 'X-Service', 'Timestamp', text({ format: 'date-time' })),
  headers(breaking, 'the signature has another form', 'X-Service', 'Signature', text({ pattern: '^sha256=' })),
];
