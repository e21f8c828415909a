/** Packages, orders with their eSIMs, and the wallet. */
import * as z from 'zod';
import { parseLpaString } from '#domain/esims/activation.ts';
import { type EndpointContract, pageOf } from '#upstream/contract/endpoint.ts';
import {
  type Misstating,
  deliveredFact,
  informingFact,
  neededFor,
  wireCurrency,
  wireDecimal,
  wireFailure,
  wireId,
  wireNumericId,
  wirePrice,
  wireReference,
  wireState,
  wireTime,
} from '#upstream/contract/fields.ts';

export const servicePackage = z.object({
  id: wireNumericId,
  name: z.string(),
  /** ISO 3166-1 alpha-2 codes. */
  countries: z.array(z.string()).default([]),
  /** Megabytes; null means unlimited. When absent or unreadable, the amount is unknown. */
  data_mb: z.number().nonnegative().nullish(),
  validity_days: z.int().positive().nullish(),
  price_for_reseller: wirePrice,
  currency: wireCurrency,
  available: z.boolean().default(true),
});
export type ServicePackage = z.output<typeof servicePackage>;

export const orderRequest = z.object({
  package_id: z.int().nonnegative(),
  external_order_id: z.string().min(1).max(128),
  device_imei: z
    .string()
    .regex(/^[0-9]{14,16}$/)
    .optional(),
});
export type OrderRequest = z.output<typeof orderRequest>;

export const orderStatus = z.enum(['processing', 'completed', 'failed']);

export const serviceOrder = z.object({
  id: wireId,
  external_order_id: neededFor(wireReference.nullish(), 'finding an order whose answer was lost'),
  package_id: wireNumericId.nullish(),
  status: orderStatus,
  /** Null until the order is completed, and perhaps for some minutes longer. */
  esim_id: deliveredFact(wireId, 'delivering the eSIM of a completed order'),
  price_for_reseller: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
  failure: wireFailure.nullish(),
  created_at: wireTime.nullish(),
});
export type ServiceOrder = z.output<typeof serviceOrder> & Misstating;

/** Some issuers use hexadecimal digits (ITU-T E.118; ETSI TS 102 221, 13.2). The card's file has a filler. */
const ICCID = /^(?:[0-9A-Fa-f][ -]?){17,21}[0-9A-Ea-e][ -]?[Ff]{0,2}$/;

const isActivationCode = (text: string) => parseLpaString(text) !== undefined;

export const serviceEsim = z.object({
  id: wireId,
  order_id: wireId.nullish(),
  /** An eSIM is delivered without it. */
  iccid: informingFact(z.string().regex(ICCID)),
  /** `LPA:1$<SM-DP+ address>$<matching id>`. Null until filled, perhaps some minutes after the order is completed. */
  activation_code: deliveredFact(z.string().refine(isActivationCode), 'installing an eSIM'),
  status: wireState,
  installed_at: neededFor(wireTime.nullish(), 'judging the conditions of a refund'),
  activated_at: neededFor(wireTime.nullish(), 'judging the conditions of a refund'),
  expires_at: wireTime.nullish(),
});
export type ServiceEsim = z.output<typeof serviceEsim> & Misstating;

export const serviceWallet = z.object({ balance: wireDecimal, currency: wireCurrency });
export type ServiceWallet = z.output<typeof serviceWallet>;

const OF_ORDERS = 'finding the cost of an order';
const OF_SUBSCRIPTIONS = 'finding the cost of a VPN subscription';

export const walletTransaction = z
  .object({
    id: wireId,
    type: z.enum(['debit', 'credit']),
    /** A debit may have a negative amount. A negative credit has no clear meaning and is refused. */
    amount: wireDecimal,
    currency: wireCurrency,
    reason: z.string(),
    order_id: neededFor(wireId.nullish(), OF_ORDERS, ['external_order_id']),
    external_order_id: neededFor(wireReference.nullish(), OF_ORDERS, ['order_id']),
    esim_id: wireId.nullish(),
    topup_id: neededFor(wireId.nullish(), 'finding the cost of a top-up'),
    refund_id: wireId.nullish(),
    vpn_subscription_id: neededFor(wireId.nullish(), OF_SUBSCRIPTIONS, ['external_subscription_id']),
    external_subscription_id: neededFor(wireReference.nullish(), OF_SUBSCRIPTIONS, ['vpn_subscription_id']),
    /** If present, a credit counts only when its status is final. */
    status: wireState.nullish(),
    created_at: wireTime,
  })
  .refine(({ type, amount }) => type === 'debit' || !amount.startsWith('-'), { path: ['amount'] });
export type WalletTransaction = z.output<typeof walletTransaction>;

export const ORDER_ENDPOINTS = {
  listPackages: {
    method: 'GET',
    path: '/packages',
    purpose: 'Lists eSIM packages with price_for_reseller.',
    mark: 'call assumed',
    reason:
      'The specification says that packages can be read, and names their identifier (used as package_id) and ' +
      'price_for_reseller; the path and all other fields are not shown.',
    query: ['cursor', 'limit'],
    answer: pageOf(servicePackage),
    record: 'package',
    isPriceList: true,
  },
  createOrder: {
    method: 'POST',
    path: '/orders',
    purpose: 'Buys an eSIM package.',
    mark: 'shape assumed',
    reason: 'Only the outcomes completed, processing and failed are named (events).',
    idempotencyKey: true,
    body: orderRequest,
    answer: serviceOrder,
    record: 'order',
  },
  getOrder: {
    method: 'GET',
    path: '/orders/{id}',
    purpose: 'Reads one order.',
    mark: 'call assumed',
    reason: 'No read of an order is shown; without it, only webhooks report the result of an order.',
    answer: serviceOrder,
    record: 'order',
    capability: 'order_read',
  },
  listOrders: {
    method: 'GET',
    path: '/orders',
    purpose: 'Lists orders, newest first; filtered by external_order_id.',
    mark: 'call assumed',
    reason: 'No list is shown; without one, an order whose answer was lost cannot be found.',
    query: ['external_order_id', 'cursor', 'limit'],
    neededQuery: { external_order_id: 'finding an order whose answer was lost' },
    answer: pageOf(serviceOrder),
    record: 'order',
    capability: 'order_list',
  },
  getEsim: {
    method: 'GET',
    path: '/esims/{id}',
    purpose: 'Reads an eSIM: delivery (ICCID, activation code), installation and activation.',
    mark: 'call assumed',
    reason:
      'The specification mentions eSIM delivery; path and shape are not shown. Other eSIM paths start with ' +
      '/esims/{id}.',
    answer: serviceEsim,
    record: 'esim',
  },
  getWallet: {
    method: 'GET',
    path: '/wallet',
    purpose: 'Reads the wallet balance.',
    mark: 'call assumed',
    reason: 'The specification says that wallet data can be read; path and shape are not shown.',
    answer: serviceWallet,
    record: 'wallet',
  },
  listWalletTransactions: {
    method: 'GET',
    path: '/wallet/transactions',
    purpose: 'Lists debits and credits, newest first; filtered by external_order_id or from a time on.',
    mark: 'call assumed',
    reason:
      'The specification says that wallet data can be read; path and shape are not shown. A later debit of one VPN ' +
      'subscription is read as its next period, and a credit of a completed purchase as its refund. The reasons ' +
      'deposit, adjustment and correction have their usual meanings.',
    query: ['external_order_id', 'since', 'cursor', 'limit'],
    neededQuery: { since: 'evidence that a failed purchase cost nothing, in a wallet of any size' },
    answer: pageOf(walletTransaction),
    record: 'transaction',
    capability: 'wallet_transactions',
  },
} as const satisfies Record<string, EndpointContract>;
