import { shapeNames, type ShapeName } from '#simulator/shape/shape.ts';

/** Shapes of the simulator that the product refuses before any purchase, or some kinds of purchase. */
export const REFUSED_SHAPES = [
  'minor_units',
  'ledger_like',
  'other_words',
  'no_esim_id',
  'no_vpn_access',
  'no_references',
  'no_transaction_ids',
  'no_esim_times',
] as const satisfies readonly ShapeName[];
export type RefusedShape = (typeof REFUSED_SHAPES)[number];

/** Shapes that the product works with as they are. */
export const WORKING_SHAPES = shapeNames.filter((name) => !(REFUSED_SHAPES as readonly string[]).includes(name));
