/** Bodies and records of access, packages, orders, eSIMs, the wallet and the service itself. */
import * as z from 'zod';
import { parseLpaString } from '#domain/esims/activation.ts';
import {
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
  wireValue,
  type Misstating,
} from '#upstream/contract/fields.ts';

export const loginRequest = z.object({
  email: z.email(),
  password: z.string().min(1),
  device_name: z.string().min(1).max(255),
  /** Accepted on production login only. */
  expires_in_days: z.int().min(1).max(3650).optional(),
});

export const loginResponse = z.object({
  /** Visible ASCII, because it goes into a header. */
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  /** Not used: the specification says that every call takes a Bearer token. */
  token_type: wireValue.nullish(),
  expires_at: wireTime.nullish(),
});

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

/** A package in the public listing: with the public price, if any, and without the price charged to the reseller. */
export const publicPackage = servicePackage.omit({ price_for_reseller: true, currency: true }).extend({
  price: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
});

export const orderRequest = z.object({
  package_id: z.int().nonnegative(),
  external_order_id: z.string().min(1).max(128),
  device_imei: z
    .string()
    .regex(/^[0-9]{14,16}$/)
    .optional(),
});

/** The outcomes of orders and top-ups that the events name. */
export const orderStatus = z.enum(['processing', 'completed', 'failed']);

export const serviceOrder = z.object({
  id: wireId,
  external_order_id: neededFor(wireReference.nullish(), 'finding an order whose answer was lost'),
  package_id: wireNumericId.nullish(),
  status: orderStatus,
  /** Null until the order is completed, and perhaps for some minutes longer. */
  esim_id: deliveredFact(wireId, 'delivering the eSIM of a completed order'),
  /** The amount charged to the reseller. */
  price_for_reseller: wirePrice.nullish(),
  currency: wireCurrency.nullish(),
  failure: wireFailure.nullish(),
  created_at: wireTime.nullish(),
});

/**
 * With spaces or hyphens, and with the filler of the file on the card. Some issuers have hexadecimal digits (ITU-T
 * E.118; ETSI TS 102 221, section 13.2).
 */
const ICCID = /^(?:[0-9A-Fa-f][ -]?){17,21}[0-9A-Ea-e][ -]?[Ff]{0,2}$/;

const isActivationCode = (text: string) => parseLpaString(text) !== undefined;

export const serviceEsim = z.object({
  id: wireId,
  order_id: wireId.nullish(),
  /** Only informs: an eSIM is delivered without it. */
  iccid: informingFact(z.string().regex(ICCID)),
  /**
   * `LPA:1$<SM-DP+ address>$<matching id>`. Null until the supplier has filled the eSIM, perhaps for some minutes after
   * the order is completed.
   */
  activation_code: deliveredFact(z.string().refine(isActivationCode), 'installing an eSIM'),
  status: wireState,
  /** Null before the installation. */
  installed_at: neededFor(wireTime.nullish(), 'judging the conditions of a refund'),
  /** Null before the activation. */
  activated_at: neededFor(wireTime.nullish(), 'judging the conditions of a refund'),
  expires_at: wireTime.nullish(),
});

export const esimUsage = z.object({
  esim_id: wireId.nullish(),
  /** Megabytes. Zero is one of the conditions of a refund. */
  data_used_mb: z.number().nonnegative(),
  /** Megabytes; null means unlimited. */
  data_total_mb: z.number().nonnegative().nullish(),
  measured_at: wireTime.nullish(),
});

/** States that the sandbox simulation can set. */
export const SIMULATED_STATES = ['installed', 'active', 'consumed'] as const;
export type SimulatedState = (typeof SIMULATED_STATES)[number];

export const simulationRequest = z.object({ state: z.enum(SIMULATED_STATES) });

export const simulatedEsim = serviceEsim.pick({ id: true, status: true, installed_at: true, activated_at: true });

export const serviceWallet = z.object({ balance: wireDecimal, currency: wireCurrency });

const OF_ORDERS = 'finding the cost of an order';
const OF_SUBSCRIPTIONS = 'finding the cost of a VPN subscription';

export const walletTransaction = z
  .object({
    id: wireId,
    type: z.enum(['debit', 'credit']),
    /** A debit may have a negative amount. A negative credit has no clear meaning and is refused. */
    amount: wireDecimal,
    currency: wireCurrency,
    /** The reason of the movement: `order`, `topup`, `vpn`, `refund`, `deposit`, … */
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

/** The query of the update check. */
export const updateQuery = z.object({
  current_version: z
    .string()
    .max(64)
    .regex(/^\d+(?:\.\d+)*$/, 'must be dotted numbers'),
  /** Not limited: the specification names only `stable`. */
  channel: z.string().regex(/^[\x21-\x7e]{1,64}$/),
});

export const latestUpdate = z.object({
  latest_version: wireValue,
  update_available: z.boolean(),
  channel: wireValue.nullish(),
  download_url: z.url().nullish(),
  checksum_sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .nullish(),
  release_notes: z.string().nullish(),
  released_at: wireTime.nullish(),
});

export const openApiDescription = z.looseObject({
  openapi: z.string().min(1),
  paths: z.record(z.string(), z.unknown()),
});

export const webhookSecret = z.object({
  /** Shown in this answer only. */
  secret: z.string().regex(/^[\x21-\x7e]{8,512}$/),
  created_at: wireTime.nullish(),
});

export type LoginRequest = z.input<typeof loginRequest>;
export type LoginResponse = z.output<typeof loginResponse>;
export type ServicePackage = z.output<typeof servicePackage>;
export type PublicPackage = z.output<typeof publicPackage>;
export type OrderRequest = z.output<typeof orderRequest>;
export type ServiceOrder = z.output<typeof serviceOrder> & Misstating;
export type ServiceEsim = z.output<typeof serviceEsim> & Misstating;
export type EsimUsage = z.output<typeof esimUsage>;
export type SimulatedEsim = z.output<typeof simulatedEsim>;
export type ServiceWallet = z.output<typeof serviceWallet>;
export type WalletTransaction = z.output<typeof walletTransaction>;
export type LatestUpdate = z.output<typeof latestUpdate>;
export type OpenApiDescription = z.output<typeof openApiDescription>;
export type WebhookSecretAnswer = z.output<typeof webhookSecret>;
