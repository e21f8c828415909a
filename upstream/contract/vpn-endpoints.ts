import type { EndpointContract } from '#upstream/contract/endpoint.ts';
import { pageOf } from '#upstream/contract/fields.ts';
import { vpnOrderRequest, vpnPlan, vpnSubscription } from '#upstream/contract/lifecycle-resources.ts';

export const VPN_ENDPOINTS = {
  listVpnPlans: {
    method: 'GET',
    path: '/vpn/plans',
    purpose: 'Lists VPN plans with price_for_reseller.',
    request: 'stated',
    response: 'shape assumed',
    reason: 'price_for_reseller and an identifier are named; everything else of a plan is not shown.',
    authorized: true,
    idempotencyKey: false,
    answer: pageOf(vpnPlan),
  },
  createVpnOrder: {
    method: 'POST',
    path: '/vpn/orders',
    purpose: 'Orders a VPN subscription.',
    request: 'stated',
    response: 'shape assumed',
    reason: 'A subscription is created from a VPN order, so the answer is taken to be that subscription.',
    authorized: true,
    idempotencyKey: true,
    body: vpnOrderRequest,
    answer: vpnSubscription,
  },
  getVpnSubscription: {
    method: 'GET',
    path: '/vpn/subscriptions/{id}',
    purpose: 'Reads one VPN subscription with its access data.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'No read is shown; the cancel path names the resource. Access data must come from somewhere.',
    authorized: true,
    idempotencyKey: false,
    answer: vpnSubscription,
    capability: 'vpn_subscription_read',
  },
  listVpnSubscriptions: {
    method: 'GET',
    path: '/vpn/subscriptions',
    purpose: 'Lists VPN subscriptions, newest first; filtered by external_subscription_id.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'No list is shown; it is the only way to find a subscription whose order was not answered.',
    authorized: true,
    idempotencyKey: false,
    query: ['external_subscription_id', 'cursor', 'limit'],
    answer: pageOf(vpnSubscription),
    capability: 'vpn_subscription_list',
  },
  cancelVpnSubscription: {
    method: 'POST',
    path: '/vpn/subscriptions/{id}/cancel',
    purpose: 'Cancels a reseller VPN subscription when the customer ends the service.',
    request: 'stated',
    response: 'shape assumed',
    reason:
      'Stated without Idempotency-Key and without a body. The answer is taken to be the subscription; a second ' +
      'cancellation is taken to be refused with the code already_cancelled.',
    authorized: true,
    idempotencyKey: false,
    answer: vpnSubscription,
  },
} as const satisfies Record<string, EndpointContract>;
