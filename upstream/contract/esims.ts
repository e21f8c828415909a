import * as z from 'zod';
import { REFUND_REVIEWS, REFUND_STATES } from '#domain/cancellation/refund.ts';
import { type EndpointContract, pageOf } from '#upstream/contract/endpoint.ts';
import {
  neededFor,
  wireCurrency,
  wireDecimal,
  wireFailure,
  wireId,
  wireNumericId,
  wirePrice,
  wireTime,
  wireValue,
} from '#upstream/contract/fields.ts';
import { orderStatus, servicePackage } from '#upstream/contract/orders.ts';

export const esimUsage = z.object({
  esim_id: wireId.nullish(),
  /** Megabytes. Zero is one of the conditions of a refund. */
  data_used_mb: z.number().nonnegative(),
  /** Megabytes; null means unlimited. */
  data_total_mb: z.number().nonnegative().nullish(),
  measured_at: wireTime.nullish(),
});
export type EsimUsage = z.output<typeof esimUsage>;

export const topupRequest = z.object({
  esim_id: z.string().regex(/^[\x21-\x7e]{1,128}$/),
  package_id: z.int().nonnegative(),
});
export type TopupRequest = z.output<typeof topupRequest>;

/** It has no reference of ours: only its id, or its eSIM and package, identify it. */
export const serviceTopup = z.object({
  id: wireId,
  esim_id: neededFor(wireId.nullish(), 'finding a top-up whose answer was lost'),
  package_id: wireNumericId.nullish(),
  status: orderStatus,
  price_for_reseller: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
  failure: wireFailure.nullish(),
  created_at: wireTime.nullish(),
});
export type ServiceTopup = z.output<typeof serviceTopup>;

/** In the order of the specification (States and transitions). The names on the wire are assumed. */
export {
  REFUND_CONDITIONS,
  type RefundConditionName as RefundCondition,
} from '#domain/cancellation/refund-conditions.ts';

export const serviceRefund = z.object({
  id: wireId,
  esim_id: neededFor(wireId.nullish(), 'finding the refund of a cancelled eSIM'),
  order_id: wireId.nullish(),
  status: z.enum(REFUND_STATES),
  review: z.enum(REFUND_REVIEWS).nullish(),
  amount: wireDecimal.nullish(),
  currency: wireCurrency.nullish(),
  unmet_conditions: z.array(wireValue).nullish(),
  created_at: wireTime.nullish(),
});
export type ServiceRefund = z.output<typeof serviceRefund>;

const cancellationStatus = z.enum(['processing', 'cancelled', 'refused']);

export const esimCancellation = z.object({
  esim_id: wireId,
  status: cancellationStatus,
  refund: serviceRefund.nullish(),
});
export type EsimCancellation = z.output<typeof esimCancellation>;

export const ESIM_ENDPOINTS = {
  getEsimUsage: {
    method: 'GET',
    path: '/esims/{id}/usage',
    purpose: 'Reads how much data an eSIM has used.',
    mark: 'call assumed',
    reason:
      'The specification mentions usage data; path and shape are not shown. The unit is megabytes, as in the ' +
      'package list.',
    answer: esimUsage,
    record: 'usage',
    capability: 'esim_usage',
  },
  listTopupOptions: {
    method: 'GET',
    path: '/esims/{id}/topup-options',
    purpose: 'Lists compatible top-up packages for the eSIM.',
    mark: 'shape assumed',
    reason: 'An option has a package_id, so it is taken to be a package of the package list.',
    answer: pageOf(servicePackage),
    record: 'package',
  },
  createTopup: {
    method: 'POST',
    path: '/topups',
    purpose: 'Recharges an eSIM with a compatible package.',
    mark: 'shape assumed',
    reason: 'Only the outcomes completed, processing and failed are named (events); it is read like an order.',
    idempotencyKey: true,
    body: topupRequest,
    answer: serviceTopup,
    record: 'topup',
  },
  getTopup: {
    method: 'GET',
    path: '/topups/{id}',
    purpose: 'Reads one top-up.',
    mark: 'call assumed',
    reason: 'No read of a top-up is shown; without it, only webhooks report the result of a top-up.',
    answer: serviceTopup,
    record: 'topup',
    capability: 'topup_read',
  },
  listTopups: {
    method: 'GET',
    path: '/topups',
    purpose: 'Lists top-ups, newest first; filtered by esim_id.',
    mark: 'call assumed',
    reason: 'A top-up has no reference of ours, so one whose answer was lost can be found only by its eSIM.',
    query: ['esim_id', 'cursor', 'limit'],
    neededQuery: { esim_id: 'finding a top-up whose answer was lost' },
    answer: pageOf(serviceTopup),
    record: 'topup',
    capability: 'topup_list',
  },
  cancelEsim: {
    method: 'POST',
    path: '/esims/{id}/cancel',
    purpose: 'Cancels an unused eSIM; the refund is automatic when the supplier confirms five conditions.',
    mark: 'shape assumed',
    reason:
      'No body is shown for the request, so none is sent. The review results accepted, refused and manual review are ' +
      'named; the answer that contains them is not shown.',
    idempotencyKey: true,
    answer: esimCancellation,
    record: 'cancellation',
  },
  getRefund: {
    method: 'GET',
    path: '/refunds/{id}',
    purpose: 'Reads one refund.',
    mark: 'call assumed',
    reason: 'The specification mentions refund reads; path and shape are not shown.',
    answer: serviceRefund,
    record: 'refund',
    capability: 'refund_read',
  },
  listRefunds: {
    method: 'GET',
    path: '/refunds',
    purpose: 'Lists refunds, newest first; filtered by esim_id.',
    mark: 'call assumed',
    reason:
      'The specification mentions refund reads; path and shape are not shown. Before a refund has an id, only its ' +
      'eSIM is known.',
    query: ['esim_id', 'cursor', 'limit'],
    neededQuery: { esim_id: 'finding the refund of a cancelled eSIM' },
    answer: pageOf(serviceRefund),
    record: 'refund',
    capability: 'refund_list',
  },
} as const satisfies Record<string, EndpointContract>;
