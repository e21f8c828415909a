/**
 * What the product makes of each shape of the simulator; the one table to change when `upstream/contract/` is adapted.
 */
import type { Trait } from '#domain/service/capability-profile.ts';
import { shapeNames, type ShapeName } from '#simulator/shapes/shape.ts';

/** By kind of purchase, whether production may rely on the tour. */
export type Seen = Readonly<Partial<Record<Trait, boolean>>>;

/** A shape that the product does not work with, or not with all of. */
export interface ShapeDifference {
  /** What the sandbox tour must name: a field of the contract. */
  readonly field: string;
  /** Undefined: nothing could be bought at all. */
  readonly seen: Seen | undefined;
  /** Fields that the contract check calls breaking; none where the document is compatible. */
  readonly breaking: readonly string[];
}

export const ALL_SEEN: Seen = { order_seen: true, topup_seen: true, vpn_seen: true };
const NONE_SEEN: Seen = { order_seen: false, topup_seen: false, vpn_seen: false };
/** Everything is bought and delivered; what is not in a list that may go on proves nothing. */
const NO_END: ShapeDifference = { field: 'listEnd', seen: ALL_SEEN, breaking: [] };
/** Only a cancellation that a person decides about cannot be told from one that is under way. */
const NO_REVIEW: ShapeDifference = { field: 'review', seen: ALL_SEEN, breaking: [] };

/** Every shape that is not here works as it is. */
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

/** Shapes with which every kind of purchase is made; a service of another one is refused before that. */
export const WORKING_SHAPES = shapeNames.filter((name) => (SHAPE_DIFFERENCES[name]?.breaking ?? []).length === 0);
