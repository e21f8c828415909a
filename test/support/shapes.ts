/** The expected result of the product with each shape of the simulator. Change it with `upstream/contract/`. */
import type { Trait } from '#domain/service/capability-profile.ts';
import { shapeNames, type ShapeName } from '#simulator/shapes/shape.ts';

/** For each kind of purchase, whether production may rely on the tour. */
export type Seen = Readonly<Partial<Record<Trait, boolean>>>;

/** A shape that the product does not support, or not completely. */
interface ShapeDifference {
  /** The field of the contract that the sandbox tour must name. */
  readonly field: string;
  /** Undefined: no purchase was possible. */
  readonly seen: Seen | undefined;
  /** Fields that the contract check reports as breaking. Empty for a compatible document. */
  readonly breaking: readonly string[];
}

export const ALL_SEEN: Seen = { order_seen: true, topup_seen: true, vpn_seen: true };
const NONE_SEEN: Seen = { order_seen: false, topup_seen: false, vpn_seen: false };
/** All purchases are possible. A list without an end mark proves no absence. */
const NO_END: ShapeDifference = { field: 'does not show its end', seen: ALL_SEEN, breaking: [] };
/** A cancellation in review looks like a cancellation in progress. */
const NO_REVIEW: ShapeDifference = { field: 'review', seen: ALL_SEEN, breaking: [] };

/** All other shapes are supported completely. */
export const SHAPE_DIFFERENCES: Readonly<Partial<Record<ShapeName, ShapeDifference>>> = {
  minor_units: {
    field: 'data[].price_for_reseller',
    seen: undefined,
    breaking: ['data[].price_for_reseller', 'price_for_reseller', 'balance', 'data[].amount'],
  },
  ledger_like: {
    field: 'data[].price_for_reseller',
    seen: undefined,
    breaking: ['data[].price_for_reseller', 'status'],
  },
  other_words: { field: 'status', seen: undefined, breaking: ['status', 'data.status'] },
  no_esim_id: { field: 'esim_id', seen: undefined, breaking: ['esim_id', 'data[].esim_id', 'data.esim_id'] },
  no_vpn_access: { field: 'access', seen: { ...ALL_SEEN, vpn_seen: false }, breaking: ['access', 'data[].access'] },
  no_references: {
    field: 'external_order_id',
    seen: { ...NONE_SEEN, topup_seen: true },
    breaking: ['data[].external_order_id', 'data[].external_subscription_id'],
  },
  no_transaction_ids: {
    field: 'order_id',
    seen: NONE_SEEN,
    breaking: ['data[].order_id', 'data[].topup_id', 'data[].vpn_subscription_id'],
  },
  no_esim_times: { field: 'installed_at', seen: ALL_SEEN, breaking: ['installed_at', 'activated_at'] },
  silent_lists: NO_END,
  has_more: NO_END,
  link_header: NO_END,
  bare_array: NO_END,
  missing_optionals: NO_REVIEW,
  null_optionals: NO_REVIEW,
};

/** Shapes that allow every kind of purchase. The product refuses a service with another shape before a purchase. */
export const WORKING_SHAPES = shapeNames.filter((name) => (SHAPE_DIFFERENCES[name]?.breaking ?? []).length === 0);
