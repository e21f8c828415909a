/** Bodies and records of top-ups, eSIM cancellations with their refunds, and VPN subscriptions. */
import * as z from 'zod';
import { REFUND_REVIEWS, REFUND_STATES } from '#domain/cancellation/refund.ts';
import {
  deliveredFact,
  neededFor,
  wireCurrency,
  wireDecimal,
  wireFailure,
  wireId,
  wireNumericId,
  wirePrice,
  wireReference,
  wireTime,
  wireValue,
  type Misstating,
} from '#upstream/contract/fields.ts';
import { orderStatus } from '#upstream/contract/resources.ts';

export const topupRequest = z.object({
  esim_id: z.string().regex(/^[\x21-\x7e]{1,128}$/),
  /** One of the eSIM's top-up options. */
  package_id: z.int().nonnegative(),
});

/** A top-up has no reference of ours: only its id, or its eSIM and package, identify it. */
export const serviceTopup = z.object({
  id: wireId,
  esim_id: neededFor(wireId.nullish(), 'finding a top-up whose answer was lost'),
  package_id: wireNumericId.nullish(),
  status: orderStatus,
  /** The amount charged to the reseller. */
  price_for_reseller: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
  failure: wireFailure.nullish(),
  created_at: wireTime.nullish(),
});

/**
 * The conditions that the supplier must confirm before a refund is automatic, in the order of the specification (States
 * and transitions). The names on the wire are assumed.
 */
export {
  REFUND_CONDITIONS,
  type RefundConditionName as RefundCondition,
} from '#domain/cancellation/refund-conditions.ts';

/** The results of a refund review that the sandbox exercises: accepted, refused, manual review. */
export const refundReview = z.enum(REFUND_REVIEWS);

/** The outcomes that the events name, and the state before them. */
export const refundStatus = z.enum(REFUND_STATES);

export const serviceRefund = z.object({
  id: wireId,
  esim_id: neededFor(wireId.nullish(), 'finding the refund of a cancelled eSIM'),
  order_id: wireId.nullish(),
  status: refundStatus,
  review: refundReview.nullish(),
  amount: wireDecimal.nullish(),
  currency: wireCurrency.nullish(),
  /** Conditions that were not confirmed: members of `REFUND_CONDITIONS`, or others that the service may have. */
  unmet_conditions: z.array(wireValue).nullish(),
  created_at: wireTime.nullish(),
});

export const cancellationStatus = z.enum(['processing', 'cancelled', 'refused']);

export const esimCancellation = z.object({
  esim_id: wireId,
  status: cancellationStatus,
  refund: serviceRefund.nullish(),
});

export const vpnPlan = z.object({
  /** Used as `vpn_plan_id`. */
  id: wireNumericId,
  name: z.string(),
  /** Length of one period in days. */
  duration_days: z.int().positive().nullish(),
  price_for_reseller: wirePrice,
  currency: wireCurrency,
  available: z.boolean().default(true),
});

export const vpnOrderRequest = z.object({
  vpn_plan_id: z.int().nonnegative(),
  external_subscription_id: z.string().min(1).max(128),
  customer_reference: z.string().min(1).max(255),
  /** Stated as a number; our requests contain its exact digits (`vpnOrderRequestBytes`). */
  customer_price: z.number().nonnegative(),
});

/** The states that the events name, and the state before them. */
const vpnSubscriptionStatus = z.enum(['processing', 'active', 'cancelled', 'expired', 'failed']);

/** A part of access data that may be enough. @param others are enough in its place. */
function oneOfAccess(others: readonly string[]) {
  return neededFor(z.string().min(1).nullish(), 'giving the customer access', others);
}

/** Access data for the customer's device; personal data. They give access as {@link givesAccess} says. */
export const vpnAccess = z.object({
  username: oneOfAccess(['licence_key', 'configuration']),
  password: oneOfAccess(['licence_key', 'configuration']),
  server: z.string().nullish(),
  /** A configuration for the customer's app, or an address to fetch one from. */
  configuration: oneOfAccess(['username', 'licence_key']),
  /** What the customer enters in the app in place of a user name and a password. */
  licence_key: oneOfAccess(['username', 'configuration']),
});

/** True when access data suffice for a customer: a user name with its password, a licence key, or a configuration. */
export function givesAccess(access: VpnAccess | null | undefined): access is VpnAccess {
  const { username, password, licence_key: key, configuration } = access ?? {};
  return (username != null && password != null) || key != null || configuration != null;
}

export const vpnSubscription = z.object({
  id: wireId,
  external_subscription_id: neededFor(wireReference.nullish(), 'finding a subscription whose answer was lost'),
  vpn_plan_id: wireNumericId.nullish(),
  status: vpnSubscriptionStatus,
  /** The amount charged to the reseller. */
  price_for_reseller: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
  /** Null until it is active, and perhaps for some minutes longer. */
  access: deliveredFact(vpnAccess, 'giving the customer access'),
  failure: wireFailure.nullish(),
  started_at: wireTime.nullish(),
  expires_at: wireTime.nullish(),
  cancelled_at: wireTime.nullish(),
});

export type TopupRequest = z.output<typeof topupRequest>;
export type ServiceTopup = z.output<typeof serviceTopup>;
export type RefundReview = z.output<typeof refundReview>;
export type RefundStatus = z.output<typeof refundStatus>;
export type ServiceRefund = z.output<typeof serviceRefund>;
export type EsimCancellation = z.output<typeof esimCancellation>;
export type VpnPlan = z.output<typeof vpnPlan>;
export type VpnOrderRequest = z.output<typeof vpnOrderRequest>;
export type VpnSubscriptionStatus = z.output<typeof vpnSubscriptionStatus>;
export type VpnAccess = z.output<typeof vpnAccess>;
export type VpnSubscription = z.output<typeof vpnSubscription> & Misstating;
