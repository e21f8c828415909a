import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor, Database } from '#db/connection/database.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import type { CircuitChange } from '#fulfilment/gate/circuits.ts';
import { BalanceReader } from '#fulfilment/purchase/balance-reader.ts';
import { priceList, type PriceList } from '#fulfilment/purchase/offer.ts';
import { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import type { ServiceClient } from '#upstream/client.ts';

export interface GateListener {
  circuitChanged(change: CircuitChange): void;
  /** Once below the threshold, and once back above it. */
  balanceCrossed(balance: Money, crossed: 'low' | 'well'): void;
  failed(error: unknown): void;
}

export interface WorkDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly service: ServiceClient;
  /** Longer than the deadline of the client. */
  readonly sendLeaseMs: number;
  /**
   * By capability profile and configuration: an operator may have revoked the policy in a workflow's input. @throws
   * DatabaseUnavailableError
   */
  readonly purchaseInForce: (db: Executor) => Promise<PurchasePolicy>;
  readonly gate: GatePolicy;
  /** By default those of these activities alone. */
  readonly readings?: WalletReadings;
  readonly onPurchased?: (kind: WorkKind) => void;
  /** For the log. */
  readonly onGate?: GateListener;
  /** For the log: a first send ended in an error, and its workflow goes on from the row. */
  readonly onFirstSendError?: (work: WorkRef, error: unknown) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Monotonic milliseconds; by default those of the process. */
  readonly monotonicNow?: () => number;
}

/** With what the purchases of a process share, so that many at once read it once. */
export interface PurchaseDependencies extends WorkDependencies {
  readonly readings: WalletReadings;
  readonly wallet: BalanceReader;
  readonly prices: PriceList;
}

export function withSharedReads(dependencies: WorkDependencies): PurchaseDependencies {
  return {
    ...dependencies,
    readings: dependencies.readings ?? new WalletReadings(dependencies),
    wallet: new BalanceReader(dependencies),
    prices: priceList(dependencies),
  };
}
