import { breaking, note, type Difference, type Draft } from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import { EVENT_KINDS, NAMES_IN_EVENTS, type EventKind } from '#upstream/contract.ts';

const servers = (...urls: string[]) => urls.map((url) => ({ url }));

/** Describes headers of every event. */
export function describeHeaders(draft: Draft, headers: Readonly<Record<string, Schema>>): void {
  const parameters = Object.entries(headers).map(([name, schema]) => ({ name, in: 'header', required: true, schema }));
  for (const kind of EVENT_KINDS) draft.event(kind)['parameters'] = parameters;
}

const TEXT: Schema = { type: 'string' };

/** The headers of the specification with a prefix. @param other changed or further headers. */
export function headersOf(prefix: string, other: Readonly<Record<string, Schema>> = {}): Record<string, Schema> {
  const names = ['Event', 'Delivery', 'Timestamp', 'Signature'];
  return { ...Object.fromEntries(names.map((name) => [`${prefix}-${name}`, TEXT])), ...other };
}

function without(prefix: string, name: string): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(headersOf(prefix)).filter(([header]) => header !== `${prefix}-${name}`));
}

function removeEvent(draft: Draft, kind: EventKind, to?: string): void {
  const webhooks = draft.document['webhooks'] as Schema;
  if (to !== undefined) webhooks[to] = webhooks[kind];
  Reflect.deleteProperty(webhooks, kind);
}

function setEventName(draft: Draft, kind: EventKind, name: string): void {
  draft.set(`event ${kind}`, 'event', { type: 'string', const: name });
}

const NEEDED_EVENTS = EVENT_KINDS.filter((kind) => kind !== 'ping');

/** Differences of the address, the calls, the events and their headers. */
export const INTERFACE_DIFFERENCES: readonly Difference[] = [
  breaking('the servers are of version 2', 'document', (draft) => {
    draft.document['servers'] = servers('https://service.example/api/reseller/v2');
  }),
  breaking('the server is of version 2 by a variable', 'document', (draft) => {
    const variables = { version: { default: 'v2' } };
    draft.document['servers'] = [{ url: 'https://service.example/api/reseller/{version}/', variables }];
  }),
  breaking('the servers are of another interface', 'document', (draft) => {
    draft.document['servers'] = servers('https://service.example/api/partner/v1', '/api/partner/v1/sandbox');
  }),
  breaking('orders are at version 2 alone', 'createOrder', (draft) => {
    draft.call('createOrder')['servers'] = servers('https://service.example/api/reseller/v2');
  }),
  breaking('a path is of version 2', 'listVpnPlans', (draft) => {
    const paths = draft.document['paths'] as Schema;
    paths['/api/reseller/v2/vpn/plans'] = paths['/vpn/plans'];
    Reflect.deleteProperty(paths, '/vpn/plans');
  }),
  note('the server is only a host', 'document', (draft) => {
    draft.document['servers'] = servers('https://service.example');
  }),
  ...NEEDED_EVENTS.map((kind) => breaking(`the event ${kind} is not sent`, kind, (draft) => removeEvent(draft, kind))),
  note('no ping is sent', 'ping', (draft) => removeEvent(draft, 'ping')),
  breaking('an event has another name', 'order.completed', (draft) => {
    setEventName(draft, 'order.completed', 'order.fulfilled');
    removeEvent(draft, 'order.completed', 'order.fulfilled');
  }),
  breaking('the body has another name of an event', 'refund.completed', (draft) => {
    setEventName(draft, 'refund.completed', 'REFUND_COMPLETED');
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
  breaking('there is no timestamp', 'document X-Service-Timestamp', (draft) => {
    describeHeaders(draft, without('X-Service', 'Timestamp'));
  }),
  breaking('there is no signature', 'document X-Service-Signature', (draft) => {
    describeHeaders(draft, without('X-Service', 'Signature'));
  }),
  note('no header names the event', 'document X-Service-Event', (draft) => {
    describeHeaders(draft, without('X-Service', 'Event'));
  }),
  breaking('the headers have a brand and no signature', ['document', 'document X-Acme-Signature'], (draft) => {
    describeHeaders(draft, without('X-Acme', 'Signature'));
  }),
  breaking('the timestamp is a date', 'document X-Service-Timestamp', (draft) => {
    describeHeaders(draft, headersOf('X-Service', { 'X-Service-Timestamp': { type: 'string', format: 'date-time' } }));
  }),
  breaking('the signature has another form', 'document X-Service-Signature', (draft) => {
    describeHeaders(draft, headersOf('X-Service', { 'X-Service-Signature': { type: 'string', pattern: '^sha256=' } }));
  }),
];
