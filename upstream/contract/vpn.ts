import * as z from 'zod';
import { type EndpointContract, pageOf } from '#upstream/contract/endpoint.ts';
import {
  type Misstating,
  deliveredFact,
  neededFor,
  wireCurrency,
  wireFailure,
  wireId,
  wireNumericId,
  wirePrice,
  wireReference,
  wireTime,
} from '#upstream/contract/fields.ts';

export const vpnPlan = z.object({
  id: wireNumericId,
  name: z.string(),
  duration_days: z.int().positive().nullish(),
  price_for_reseller: wirePrice,
  currency: wireCurrency,
  available: z.boolean().default(true),
});
export type VpnPlan = z.output<typeof vpnPlan>;

export const vpnOrderRequest = z.object({
  vpn_plan_id: z.int().nonnegative(),
  external_subscription_id: z.string().min(1).max(128),
  customer_reference: z.string().min(1).max(255),
  /** Our requests contain its exact digits (`vpnOrderRequestBytes`). */
  customer_price: z.number().nonnegative(),
});
export type VpnOrderRequest = z.output<typeof vpnOrderRequest>;

const vpnSubscriptionStatus = z.enum(['processing', 'active', 'cancelled', 'expired', 'failed']);

function oneOfAccess(others: readonly string[]) {
  return neededFor(z.string().min(1).nullish(), 'giving the customer access', others);
}

/** Personal data. */
export const vpnAccess = z.object({
  username: oneOfAccess(['licence_key', 'configuration']),
  password: oneOfAccess(['licence_key', 'configuration']),
  server: z.string().nullish(),
  configuration: oneOfAccess(['username', 'licence_key']),
  licence_key: oneOfAccess(['username', 'configuration']),
});
type VpnAccess = z.output<typeof vpnAccess>;

/** A user name with its password, a licence key, or a configuration. */
export function givesAccess(access: VpnAccess | null | undefined): access is VpnAccess {
  const { username, password, licence_key: key, configuration } = access ?? {};
  return (username != null && password != null) || key != null || configuration != null;
}

export const vpnSubscription = z.object({
  id: wireId,
  external_subscription_id: neededFor(wireReference.nullish(), 'finding a subscription whose answer was lost'),
  vpn_plan_id: wireNumericId.nullish(),
  status: vpnSubscriptionStatus,
  price_for_reseller: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
  /** Null until it is active, and perhaps for some minutes longer. */
  access: deliveredFact(vpnAccess, 'giving the customer access'),
  failure: wireFailure.nullish(),
  started_at: wireTime.nullish(),
  expires_at: wireTime.nullish(),
  cancelled_at: wireTime.nullish(),
});
export type VpnSubscription = z.output<typeof vpnSubscription> & Misstating;

export const VPN_ENDPOINTS = {
  listVpnPlans: {
    method: 'GET',
    path: '/vpn/plans',
    purpose: 'Lists VPN plans with price_for_reseller.',
    mark: 'shape assumed',
    reason: 'price_for_reseller and an identifier are named; everything else of a plan is not shown.',
    answer: pageOf(vpnPlan),
    record: 'plan',
    isPriceList: true,
  },
  createVpnOrder: {
    method: 'POST',
    path: '/vpn/orders',
    purpose: 'Orders a VPN subscription.',
    mark: 'shape assumed',
    reason: 'A subscription is created from a VPN order, so the answer is taken to be that subscription.',
    idempotencyKey: true,
    body: vpnOrderRequest,
    answer: vpnSubscription,
    record: 'subscription',
  },
  getVpnSubscription: {
    method: 'GET',
    path: '/vpn/subscriptions/{id}',
    purpose: 'Reads one VPN subscription with its access data.',
    mark: 'call assumed',
    reason:
      'No read is shown; the cancel path names the resource. Another source of the access data is not shown either.',
    answer: vpnSubscription,
    record: 'subscription',
    capability: 'vpn_subscription_read',
  },
  listVpnSubscriptions: {
    method: 'GET',
    path: '/vpn/subscriptions',
    purpose: 'Lists VPN subscriptions, newest first; filtered by external_subscription_id.',
    mark: 'call assumed',
    reason: 'No list is shown; without one, a subscription whose answer was lost cannot be found.',
    query: ['external_subscription_id', 'cursor', 'limit'],
    neededQuery: { external_subscription_id: 'finding a subscription whose answer was lost' },
    answer: pageOf(vpnSubscription),
    record: 'subscription',
    capability: 'vpn_subscription_list',
  },
  cancelVpnSubscription: {
    method: 'POST',
    path: '/vpn/subscriptions/{id}/cancel',
    purpose: 'Cancels a reseller VPN subscription when the customer ends the service.',
    mark: 'shape assumed',
    reason:
      'Stated without Idempotency-Key and without a body. The answer is taken to be the subscription; a second ' +
      'cancellation is taken to be refused with the code already_cancelled.',
    answer: vpnSubscription,
    record: 'subscription',
  },
} as const satisfies Record<string, EndpointContract>;
