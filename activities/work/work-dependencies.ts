import type { AttemptView } from '#activities/work/work-types.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { CircuitChange } from '#fulfilment/gate/circuits.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** Who wants to know what the purchase gate notices. */
export interface GateListener {
  circuitChanged(change: CircuitChange): void;
  /** The balance fell below the threshold, or is back above it. */
  balanceCrossed(balance: Money, crossed: 'low' | 'well'): void;
  /** The circuits could not be told of a send. */
  failed(error: unknown): void;
}

/** What the activities of work need. */
export interface WorkDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly service: ServiceClient;
  /** How long one send has the sole right to an attempt, in milliseconds; more than the deadline of the client. */
  readonly sendLeaseMs: number;
  /**
   * What the capability profile and the configuration allow at this moment. The input of a workflow holds what they
   * allowed when it began; an operator may have revoked it since. @throws DatabaseUnavailableError
   */
  readonly purchaseInForce: (db: Executor) => Promise<PurchasePolicy>;
  /** What the purchase gate goes by. */
  readonly gate: GatePolicy;
  /** Told of what the gate notices, for the log. */
  readonly onGate?: GateListener;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds from any start, never stepping back; that of the process by default. */
  readonly monotonicNow?: () => number;
}

/** An attempt as the workflow knows it. */
export function attemptView(attempt: AttemptRow): AttemptView {
  const failure: FailureDetail | undefined =
    attempt.failureClass === null ? undefined : { class: attempt.failureClass, detail: attempt.failureDetail ?? '' };
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
      // A send without a result is one more that proves nothing.
      anyUnknown: attempt.anyUnknown || attempt.state === 'sending',
    },
    ...(failure !== undefined && { failure }),
  };
}

/** A failure of the service as it is stored and shown. */
export function noteOf(failure: ServiceFailure): FailureDetail {
  return { class: failure.failure, detail: failure.detail };
}
