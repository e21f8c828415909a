/** What the foreign service does differently, whatever its style. */
import type { StyleName } from '#test/foreign/service/style.ts';

export interface Behaviour {
  /** When an accepted purchase is completed: in the answer; later, with an event; later, without an event. */
  readonly completes: 'at_once' | 'event' | 'read';
  /**
   * The delivery of a completed purchase. `codes_later`, `ids_later` and `access_later`: that part is filled after
   * {@link fillMs}, and is `unfilled` before. `other_order`: the eSIM says that it belongs to another order. `garbled`:
   * the activation code is none.
   */
  readonly delivery: 'whole' | 'codes_later' | 'ids_later' | 'access_later' | 'other_order' | 'garbled';
  readonly unfilled: null | '' | 'PENDING';
  readonly fillMs: number;
  /** Where the id of the eSIM, and the access data, stand. */
  readonly facts: 'everywhere' | 'event_only' | 'list_only' | 'read_only';
  /**
   * The result of the first purchases, `failures` of them. `credited`: fails after its debit, with a credit.
   * `free`: fails without a debit. `late_debit`: fails, and its debit is booked later. `refused`: a definite error.
   */
  readonly supplier: 'delivers' | 'credited' | 'free' | 'late_debit' | 'refused';
  readonly failures: number;
  /** Milliseconds between the failure and the debit of `late_debit`. */
  readonly lateMs: number;
  readonly wallet: {
    /** Milliseconds that the filter `since` is off: positive ones hide new rows. */
    readonly sinceOffMs?: number;
    /** Milliseconds that the service's clock is off, in all times that it shows. */
    readonly clockMs?: number;
    /** Silently shows only so many rows, of the newest or the oldest. */
    readonly cap?: { readonly rows: number; readonly keeps: 'newest' | 'oldest' };
    readonly oldestFirst?: boolean;
    /** Milliseconds for which a list that was shown is shown again. */
    readonly cachedMs?: number;
    /** Milliseconds after which a row appears. The balance changes at once. */
    readonly rowsAfterMs?: number;
    readonly history?: false;
    /** The balance and the rows are in cents, unlike the prices. */
    readonly inCents?: true;
    /** Another client of the account moves money before each answer. */
    readonly others?: true;
  };
  /** The refund of a cancellation. */
  readonly refund: 'whole' | 'smaller' | 'zero' | 'pending';
  /** After so many accepted purchases the answers have another style. */
  readonly changes?: { readonly after: number; readonly to: StyleName };
  /** The purchases, counted from 1, whose answer is lost after the service has acted. */
  readonly loses: readonly number[];
  readonly webhooks: 'whole' | 'id_only' | 'reference_only' | 'none';
  /** A key that was used before. `ignored`: the service buys again. */
  readonly keys: 'replayed' | 'refused' | 'ignored';
  /** What the service shows before the first purchase. */
  readonly shows: {
    /** Its OpenAPI document. */
    readonly document: boolean;
    /** Completed purchases that were made before, by other means. */
    readonly purchases: boolean;
  };
}

export const USUAL: Behaviour = {
  completes: 'at_once',
  delivery: 'whole',
  unfilled: null,
  fillMs: 600,
  facts: 'everywhere',
  supplier: 'delivers',
  failures: 1,
  lateMs: 1_500,
  wallet: {},
  refund: 'whole',
  loses: [],
  webhooks: 'whole',
  keys: 'replayed',
  shows: { document: false, purchases: true },
};
