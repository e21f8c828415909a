import type { WalletReadings } from '#activities/evidence/wallet-readings.ts';
import type { AttemptSnapshot } from '#activities/work/work-types.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { chargedOf } from '#db/attempts/attempts.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { plainText, type Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { CircuitChange } from '#fulfilment/gate/circuits.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** Receives what the purchase gate notices. */
export interface GateListener {
  circuitChanged(change: CircuitChange): void;
  /** The balance fell below the threshold, or rose above it again. */
  balanceCrossed(balance: Money, crossed: 'low' | 'well'): void;
  /** A send could not be reported to the circuits. */
  failed(error: unknown): void;
}

/** Dependencies of the activities of work. */
export interface WorkDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly service: ServiceClient;
  /** Length of the lease of a send, in milliseconds; longer than the deadline of the client. */
  readonly sendLeaseMs: number;
  /**
   * The present purchase policy by capability profile and configuration. The input of a workflow holds the policy of
   * its start, which an operator may have revoked.
   * @throws DatabaseUnavailableError
   */
  readonly purchaseInForce: (db: Executor) => Promise<PurchasePolicy>;
  readonly gate: GatePolicy;
  /** Readings of the wallet; by default those of these activities alone. */
  readonly readings?: WalletReadings;
  /** Called when the service has accepted a purchase. */
  readonly onPurchased?: (kind: WorkKind) => void;
  /** Called for what the gate notices, for the log. */
  readonly onGate?: GateListener;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic milliseconds; by default those of the process. */
  readonly monotonicNow?: () => number;
}

/** An attempt as its workflow receives it. */
export function attemptSnapshot(attempt: AttemptRow): AttemptSnapshot {
  const failure: FailureDetail | undefined =
    attempt.failureClass === null ? undefined : { class: attempt.failureClass, detail: attempt.failureDetail ?? '' };
  const charged = chargedOf(attempt);
  return {
    id: attempt.id,
    number: attempt.number,
    state: attempt.state,
    settled: attempt.settled,
    named: attempt.serviceId !== null,
    ...(attempt.serviceId !== null && { serviceId: attempt.serviceId }),
    history: {
      firstSentAt: attempt.firstSentAt?.getTime(),
      firstUnrefusedSendAt: attempt.firstUnrefusedSendAt?.getTime(),
      sends: attempt.sends,
      // A send without a result counts as unknown.
      anyUnknown: attempt.anyUnknown || attempt.state === 'sending',
    },
    ...(failure !== undefined && { failure }),
    ...(charged !== undefined && { charged: plainText(charged) }),
  };
}

/** A failure of the service as it is stored and shown. */
export function noteOf(failure: ServiceFailure): FailureDetail {
  const { failure: failed, detail, serviceMessage } = failure;
  return { class: failed, detail, ...(serviceMessage !== undefined && { serviceMessage }) };
}
