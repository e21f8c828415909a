import type { RecordName } from '#simulator/shapes/fields.ts';
import { EVENT_KINDS, type EndpointName, type EventKind } from '#upstream/contract.ts';

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

const EVENT_RECORDS: Readonly<Record<string, RecordName>> = {
  order: 'order',
  topup: 'topup',
  esim: 'cancellation',
  refund: 'refund',
  vpn: 'vpn_subscription',
};

const subjectOf = (event: string): string => event.split('.')[0] ?? '';

/** The record in `data` of an event; undefined for a ping and for an unknown event. */
export function eventRecord(event: string): RecordName | undefined {
  return EVENT_RECORDS[subjectOf(event)];
}

/** The event itself, or for an unknown event one with the same kind of subject. */
export function knownEvent(event: string): EventKind {
  const alike = EVENT_KINDS.find((kind) => subjectOf(kind) === subjectOf(event));
  return EVENT_KINDS.find((kind) => kind === event) ?? alike ?? 'ping';
}
