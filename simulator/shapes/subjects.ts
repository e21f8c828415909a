import type { RecordName } from '#simulator/shapes/fields.ts';
import { EVENT_KINDS, eventSubject, type EndpointName, type EventKind, type EventSubject } from '#upstream/contract.ts';

/** The record in the answer or list of each call. The OpenAPI document is not a record. */
export const SUBJECTS: Readonly<Record<Exclude<EndpointName, 'getOpenApi'>, RecordName>> = {
  login: 'token',
  listPackages: 'package',
  createOrder: 'order',
  getOrder: 'order',
  listOrders: 'order',
  getEsim: 'esim',
  getWallet: 'wallet',
  listWalletTransactions: 'transaction',
  getEsimUsage: 'usage',
  listTopupOptions: 'package',
  createTopup: 'topup',
  getTopup: 'topup',
  listTopups: 'topup',
  cancelEsim: 'cancellation',
  getRefund: 'refund',
  listRefunds: 'refund',
  listVpnPlans: 'vpn_plan',
  createVpnOrder: 'vpn_subscription',
  getVpnSubscription: 'vpn_subscription',
  listVpnSubscriptions: 'vpn_subscription',
  cancelVpnSubscription: 'vpn_subscription',
  listPublicPackages: 'package',
  getLatestUpdate: 'update',
  simulateEsim: 'esim',
  createWebhookSecret: 'webhook_secret',
  rotateWebhookSecret: 'webhook_secret',
};

const EVENT_RECORDS: Readonly<Record<EventSubject, RecordName>> = {
  order: 'order',
  topup: 'topup',
  esim: 'cancellation',
  refund: 'refund',
  vpn: 'vpn_subscription',
};

/** The record in `data` of an event; undefined for a ping and for an unknown event. */
export function eventRecord(event: string): RecordName | undefined {
  const subject = eventSubject(event);
  return subject && EVENT_RECORDS[subject];
}

/** The event itself, or for an unknown event one with the same kind of subject. */
export function knownEvent(event: string): EventKind {
  const alike = EVENT_KINDS.find((kind) => eventSubject(kind) === eventSubject(event));
  return EVENT_KINDS.find((kind) => kind === event) ?? alike ?? 'ping';
}
