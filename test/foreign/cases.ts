/** The expected ends of styles and behaviours; the guide "When the real document arrives" has them as tables. */
import type { Behaviour } from '#test/foreign/service/behaviour.ts';
import type { StyleName } from '#test/foreign/service/style.ts';
import type { Variants } from '#upstream/contract/variants.ts';

export const KINDS = ['order', 'topup', 'vpn_subscription', 'cancellation'] as const;
export type Kind = (typeof KINDS)[number];

/** How a kind of work ends. */
export type End =
  | 'works'
  /** Nothing was bought, and the reason names this. */
  | { readonly held: string }
  /** One purchase was paid and has a case with this reason; the next one is held. */
  | { readonly canary: string }
  /** It was sent once, has no proof of its result, and has a case with this reason. */
  | { readonly case: string }
  /** It is delivered, and a case beside it has this reason. */
  | { readonly beside: string }
  /** A cancellation is not sent, because the service does not prove the conditions of its refund. */
  | 'refused';

type Ends = Readonly<Partial<Record<Kind, End>>>;

export interface ForeignCase {
  readonly style: StyleName;
  readonly behaviour?: Partial<Behaviour>;
  /** What an engineer enters in `upstream/contract/variants.ts`. */
  readonly adapted?: Partial<Variants>;
  /** The expected end of each kind; a kind that is not named is not placed. */
  readonly ends: Ends;
}

const WORKS: Ends = { order: 'works', topup: 'works', vpn_subscription: 'works', cancellation: 'works' };
/** The lists of top-ups do not show their end, so no list proves that an eSIM was never recharged. */
const NO_LIST_END: Ends = { ...WORKS, cancellation: 'refused' };
/** Without an order there is no eSIM to cancel. */
const held = (field: string): Ends => {
  return { order: { held: field }, topup: { held: field }, vpn_subscription: { held: field } };
};

const DOCUMENT = { shows: { document: true, purchases: false } } as const;
const PURCHASES = { shows: { document: false, purchases: true } } as const;
const BOTH = { shows: { document: true, purchases: true } } as const;

/** Each style as it is. The evidence and the time of the completion vary with the style. */
export const STYLE_CASES: readonly ForeignCase[] = [
  { style: 'plain', behaviour: DOCUMENT, ends: WORKS },
  { style: 'laravel', behaviour: { ...PURCHASES, completes: 'event' }, ends: WORKS },
  { style: 'django', behaviour: { ...DOCUMENT, completes: 'read' }, ends: WORKS },
  { style: 'rails', behaviour: { ...PURCHASES, completes: 'event' }, ends: WORKS },
  { style: 'jsend', behaviour: { ...DOCUMENT, completes: 'event' }, ends: WORKS },
  { style: 'coded', behaviour: { ...PURCHASES, completes: 'event' }, ends: WORKS },
  { style: 'git_like', behaviour: PURCHASES, ends: WORKS },
  { style: 'airalo', behaviour: { ...BOTH, completes: 'event' }, ends: WORKS },
  { style: 'celitech', behaviour: PURCHASES, ends: NO_LIST_END },
  { style: 'long_ids', behaviour: { ...PURCHASES, completes: 'event' }, ends: WORKS },
  { style: 'stripe', behaviour: PURCHASES, ends: held('price_for_reseller') },
  { style: 'paddle', behaviour: BOTH, ends: held('price_for_reseller') },
  { style: 'camel', behaviour: DOCUMENT, ends: held('price_for_reseller') },
  { style: 'dot_net', behaviour: PURCHASES, ends: held('data') },
  { style: 'esim_go', behaviour: DOCUMENT, ends: held('status') },
  { style: 'esimfly', behaviour: PURCHASES, ends: held('data') },
  { style: 'gigs', behaviour: DOCUMENT, ends: held('price_for_reseller') },
  { style: 'zendit', behaviour: BOTH, ends: held('price_for_reseller') },
  { style: 'json_api', behaviour: PURCHASES, ends: held('price_for_reseller') },
  { style: 'comma', behaviour: DOCUMENT, ends: held('price_for_reseller') },
  { style: 'nested', behaviour: BOTH, ends: held('data') },
];

/** Names in camelCase, as an engineer enters them. */
const CAMEL_NAMES = Object.fromEntries(
  [
    'price_for_reseller',
    'external_order_id',
    'package_id',
    'esim_id',
    'order_id',
    'created_at',
    'activation_code',
    'installed_at',
    'activated_at',
    'expires_at',
    'data_used_mb',
    'data_total_mb',
    'data_mb',
    'validity_days',
    'duration_days',
    'external_subscription_id',
    'vpn_plan_id',
    'vpn_subscription_id',
    'topup_id',
    'refund_id',
    'started_at',
    'cancelled_at',
    'unmet_conditions',
    'latest_version',
    'update_available',
  ].map((name) => [name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), name]),
);

/** Styles that are held as they are, after the entries in `variants.ts`. */
export const ADAPTED_CASES: readonly ForeignCase[] = [
  { style: 'stripe', behaviour: DOCUMENT, adapted: { amounts: 'minor_units' }, ends: WORKS },
  { style: 'camel', behaviour: BOTH, adapted: { fields: { state: 'status', ...CAMEL_NAMES } }, ends: WORKS },
  {
    style: 'esim_go',
    behaviour: { ...PURCHASES, completes: 'event' },
    adapted: {
      values: {
        status: {
          pending: 'processing',
          delivered: 'completed',
          error: 'failed',
          live: 'active',
          stopped: 'cancelled',
          ended: 'expired',
          voided: 'cancelled',
        },
      },
    },
    ends: WORKS,
  },
  {
    style: 'paddle',
    behaviour: PURCHASES,
    adapted: { amounts: 'minor_units', fields: { state: 'status', currency_code: 'currency' } },
    ends: NO_LIST_END,
  },
  {
    style: 'gigs',
    behaviour: { ...DOCUMENT, completes: 'read' },
    adapted: { amounts: 'minor_units', fields: { state: 'status', currency_code: 'currency' } },
    ends: NO_LIST_END,
  },
  {
    style: 'esimfly',
    behaviour: BOTH,
    adapted: {
      wrappers: ['obj'],
      lists: ['list'],
      records: {
        package: { fields: { amount: 'price_for_reseller' }, amounts: 'minor_units' },
        plan: { fields: { amount: 'price_for_reseller' }, amounts: 'minor_units' },
        order: { fields: { amount: 'price_for_reseller' } },
        topup: { fields: { amount: 'price_for_reseller' } },
      },
    },
    ends: NO_LIST_END,
  },
  {
    style: 'zendit',
    behaviour: PURCHASES,
    adapted: {
      fields: { state: 'status', ...CAMEL_NAMES, fixed: 'amount', currencyDivisor: 'divisor' },
      values: { status: { done: 'completed', accepted: 'processing' } },
    },
    ends: WORKS,
  },
];

export interface BehaviourCase extends ForeignCase {
  /** Its description in the guide. */
  readonly what: string;
}

export const HOUR_MS = 3_600_000;

export const BEHAVIOUR_CASES: readonly BehaviourCase[] = [
  {
    what: 'the answer to a purchase is lost, and the key is replayed',
    style: 'plain',
    behaviour: { ...DOCUMENT, loses: [1] },
    ends: { order: 'works' },
  },
  {
    what: 'the answer to a purchase is lost, and a repeated key buys again',
    style: 'rails',
    behaviour: { ...PURCHASES, loses: [1, 2], keys: 'ignored' },
    ends: { order: 'works', vpn_subscription: 'works' },
  },
  {
    what: 'an order fails without a debit after an answer that named its price',
    style: 'laravel',
    behaviour: { ...PURCHASES, completes: 'event', supplier: 'free' },
    ends: { order: { case: 'evidence_unavailable' } },
  },
  {
    what: 'an order fails with a credit',
    style: 'plain',
    behaviour: { ...DOCUMENT, completes: 'event', supplier: 'credited' },
    ends: { order: 'works' },
  },
  {
    what: 'the whole wallet is in cents, and prices are decimals',
    style: 'plain',
    behaviour: { ...BOTH, wallet: { inCents: true } },
    ends: held('amount'),
  },
  {
    what: 'only reads of one record name the eSIM and the access data',
    style: 'plain',
    behaviour: { ...BOTH, completes: 'event', facts: 'read_only' },
    ends: { order: { held: 'esim_id' }, vpn_subscription: 'works' },
  },
  {
    what: 'the codes of a completed order are filled later; they are null before',
    style: 'plain',
    behaviour: { ...DOCUMENT, delivery: 'codes_later', unfilled: null },
    ends: { order: 'works' },
  },
  {
    what: 'the id of the eSIM of a completed order is filled later; it is empty before',
    style: 'laravel',
    behaviour: { ...PURCHASES, completes: 'event', delivery: 'ids_later', unfilled: '' },
    ends: { order: 'works' },
  },
  {
    what: 'the access data of an active VPN subscription are filled later; they are `PENDING` before',
    style: 'django',
    behaviour: { ...DOCUMENT, completes: 'read', delivery: 'access_later', unfilled: 'PENDING' },
    ends: { vpn_subscription: 'works' },
  },
  {
    what: 'events name only the id of their record',
    style: 'rails',
    behaviour: { ...PURCHASES, completes: 'event', webhooks: 'id_only' },
    ends: { order: 'works', vpn_subscription: 'works' },
  },
  {
    what: 'events name only our reference',
    style: 'coded',
    behaviour: { ...PURCHASES, completes: 'event', webhooks: 'reference_only' },
    ends: { order: 'works', vpn_subscription: 'works' },
  },
  {
    what: 'only events name the eSIM and the access data',
    style: 'jsend',
    behaviour: { ...PURCHASES, completes: 'event', facts: 'event_only' },
    ends: { order: { held: 'esim_id' }, vpn_subscription: { held: 'access' } },
  },
  {
    what: 'only lists name the eSIM and the access data',
    style: 'git_like',
    behaviour: { ...PURCHASES, facts: 'list_only' },
    ends: { order: 'works', vpn_subscription: 'works' },
  },
  {
    what: 'the activation code is none',
    style: 'plain',
    behaviour: { ...BOTH, delivery: 'garbled' },
    ends: { order: { canary: 'contract_drift' } },
  },
  {
    what: 'the eSIM says that it is of another order',
    style: 'laravel',
    behaviour: { ...PURCHASES, delivery: 'other_order' },
    ends: { order: { canary: 'contract_drift' } },
  },
  {
    what: 'the names of all fields change after going live',
    style: 'plain',
    behaviour: { ...DOCUMENT, changes: { after: 1, to: 'camel' } },
    ends: { order: { canary: 'delivery_unavailable' } },
  },
  {
    what: 'the refund of a cancelled eSIM is smaller than its debit',
    style: 'plain',
    behaviour: { ...DOCUMENT, refund: 'smaller' },
    ends: { order: 'works', cancellation: { beside: 'amount_differs' } },
  },
  {
    what: 'the refund of a cancelled eSIM is zero',
    style: 'laravel',
    behaviour: { ...PURCHASES, refund: 'zero' },
    ends: { order: 'works', cancellation: { case: 'refund_missing' } },
  },
  {
    what: 'the refund of a cancelled eSIM stays pending',
    style: 'rails',
    behaviour: { ...PURCHASES, refund: 'pending' },
    ends: { order: 'works', cancellation: { case: 'refund_missing' } },
  },
];

/** Behaviours that concern the money only: whatever the end, each piece of work has at most one open debit. */
export const MONEY_CASES: readonly BehaviourCase[] = [-12, 5.5, 14].map((hours) => ({
  what: `orders fail, their debits are booked later, and the filter by time is off by ${hours} hours`,
  style: 'plain',
  behaviour: {
    ...DOCUMENT,
    completes: 'event',
    supplier: 'credited',
    failures: 2,
    // The sign of the offset: the rows seem younger, or older, than they are.
    wallet: { sinceOffMs: hours * HOUR_MS },
  },
  ends: {},
}));
