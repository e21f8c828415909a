/** Batches: many orders that are accepted together. Each of them is an ordinary order with its own workflow. */

/** The largest number of eSIMs in a batch. */
export const MAX_BATCH = 1_000;

const POSITION_DIGITS = String(MAX_BATCH).length;

/** The longest reference of a batch: those of its orders have at most 64 characters. */
export const MAX_BATCH_REFERENCE = 64 - 1 - POSITION_DIGITS;

/** The statuses with which an order of a batch ends. */
export const BATCH_ENDS = ['completed', 'failed', 'abandoned'] as const;

export type BatchEnd = (typeof BATCH_ENDS)[number];

/**
 * The reference of an order of a batch: that of the batch, a hyphen and the position with four digits. A caller may
 * give it too: so an order that bought nothing can be ordered again by itself.
 *
 * @param position from 1.
 */
export function batchOrderReference(batchReference: string, position: number): string {
  return `${batchReference}-${String(position).padStart(POSITION_DIGITS, '0')}`;
}
