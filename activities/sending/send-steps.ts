/** What the steps of a send hand on: see `send-purchase.ts`. */
import type { WalletReadings } from '#activities/evidence/wallet-readings.ts';
import type { Offer, WorkHandlers } from '#activities/purchases/work-handler.ts';
import type { Gate } from '#activities/sending/gate.ts';
import type { RunningLease } from '#activities/sending/send-lease.ts';
import type { WalletReader } from '#activities/upkeep/wallet-reader.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { PurchaseActivities, SendResult } from '#activities/work/work-types.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { Reserved } from '#fulfilment/gate/reservations.ts';

export type Request = Parameters<PurchaseActivities['sendPurchase']>[0];

/** Everything the steps of a send share. */
export interface Sender extends WorkDependencies {
  readonly handlers: WorkHandlers;
  readonly readings: WalletReadings;
  readonly purchaseGate: Gate;
  readonly wallet: WalletReader;
}

/** The activity ends here; nothing (more) is sent. */
export interface Ended {
  readonly kind: 'ended';
  readonly result: SendResult;
}

/** The result of `admit`. */
export type Admitted =
  | {
      readonly kind: 'admitted';
      /** Measures this activity from its beginning. */
      readonly began: RunningLease;
      readonly offer: Offer;
      /** True when the price of the offer was read for this send. */
      readonly priceNeeded: boolean;
    }
  | Ended;

/** The result of `claim`. */
export type Claimed =
  | {
      readonly kind: 'claimed';
      /** The work as it was when the send was claimed. */
      readonly row: WorkRow;
      readonly attempt: AttemptRow;
      readonly leaseToken: string;
      /** How money was reserved; undefined for work that costs nothing. */
      readonly reserved: Reserved | undefined;
      readonly lease: RunningLease;
    }
  | Ended;
