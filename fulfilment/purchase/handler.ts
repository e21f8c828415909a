import { performance } from 'node:perf_hooks';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor, Database } from '#db/connection/database.ts';
import { chargedOf } from '#db/work/attempts.ts';
import type { WorkRow, AttemptRow } from '#db/work/rows.ts';
import { type Money, plainText } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type {
  CancellationSnapshot,
  CompletionResult,
  SubscriptionSnapshot,
  AttemptSnapshot,
  PurchaseActivities,
  SendResult,
} from '#domain/purchase/results.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { AttemptReport } from '#fulfilment/attempts/report.ts';
import type { Reserved } from '#fulfilment/gate/account.ts';
import type { CircuitChange } from '#fulfilment/gate/circuits.ts';
import type { Gate } from '#fulfilment/purchase/gate.ts';
import type { WalletReader } from '#fulfilment/purchase/wallet-reader.ts';
import type { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

interface PreparedPurchase {
  /** Undefined where the interface takes none. */
  readonly reference: string | undefined;
  /** Where the eSIM exists before the purchase. */
  readonly serviceEsimId?: string;
  /** The exact bytes. */
  readonly body: Buffer;
}

export type LookUpResult<Item = unknown> =
  /** `record`: as the service sent it. `event`: the kind of event that reports the same, if there is one. */
  | { readonly kind: 'found'; readonly facts: AttemptReport; readonly record: Item; readonly event: string | undefined }
  /** That does not prove that it was not bought. */
  | { readonly kind: 'not_found' }
  /** `isOurs`: the service names the purchase in a record that cannot be read. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly isOurs?: true };

export type Found<Item = unknown> = Extract<LookUpResult<Item>, { kind: 'found' }>;

/** By the id of the attempt. */
export type LookUpManyResult =
  | { readonly kind: 'read'; readonly results: ReadonlyMap<string, Found> }
  | Extract<LookUpResult, { kind: 'unavailable' }>;

interface Offer {
  /** Undefined when it may be sent. */
  readonly objection?: ServiceFailure | undefined;
  /** Undefined when it is not known. */
  readonly price?: Money | undefined;
  /**
   * Runs in the transaction that claims the send: other work of the same eSIM may have ended since. Absent when the
   * offer did not depend on our rows.
   */
  readonly recheck?: (tx: Executor) => Promise<ServiceFailure | undefined>;
}

/** The decisions are in `domain/`. */
export interface WorkHandler {
  /** `row` has all columns of its kind; `number` is from 1. */
  prepare(db: Executor, row: WorkRow, number: number): Promise<PreparedPurchase>;
  /** Just before a send. `row` has all columns of its kind. With `priceNeeded` the price comes from no cache. */
  examine(row: WorkRow, options: { readonly priceNeeded: boolean }): Promise<Offer>;
  /** The stored bytes are sent as they are. The client does not send when its deadline would end after the lease. */
  send(
    attempt: AttemptRow,
    row: WorkRow,
    body: Buffer,
    leaseLeftMs: () => number,
  ): Promise<ServiceResult<AttemptReport>>;
  lookUp(attempt: AttemptRow): Promise<LookUpResult>;
  /** An attempt that the newest pages do not clearly show needs a single look-up. At least one attempt. */
  lookUpMany(attempts: readonly AttemptRow[], bounds: { readonly maxPages: number }): Promise<LookUpManyResult>;
  /** @throws NotYetError while the service does not answer, or does not show all that is needed. */
  complete(attempt: AttemptRow, applied: readonly string[]): Promise<CompletionResult>;
  /** Absent for every other kind. */
  readonly subscription?: (db: Executor, workId: string) => Promise<SubscriptionSnapshot>;
  /** Absent for every other kind. */
  readonly cancellation?: (db: Executor, workId: string) => Promise<CancellationSnapshot>;
}

export type WorkHandlers = Readonly<Record<WorkKind, WorkHandler>>;

export interface GateListener {
  circuitChanged(change: CircuitChange): void;
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
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Monotonic milliseconds; by default those of the process. */
  readonly monotonicNow?: () => number;
}

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

export function noteOf(failure: ServiceFailure): FailureDetail {
  const { failure: failed, detail, serviceMessage } = failure;
  return { class: failed, detail, ...(serviceMessage !== undefined && { serviceMessage }) };
}

/** The clock of the process that holds it is compared with no other. */
export interface RunningLease {
  readonly elapsedMs: () => number;
  /** Zero or less: another process may hold it. */
  readonly leftMs: () => number;
}

/**
 * Call it before the transaction that takes the lease: it then never ends here later than in the database. The larger
 * time of two clocks counts: the monotonic one stops while the machine sleeps, the wall clock may be set back.
 */
export function startLease({
  sendLeaseMs,
  now,
  monotonicNow = () => performance.now(),
}: Pick<WorkDependencies, 'sendLeaseMs' | 'now' | 'monotonicNow'>): RunningLease {
  const began = { monotonic: monotonicNow(), wall: now() };
  const elapsedMs = () => Math.max(monotonicNow() - began.monotonic, now() - began.wall);
  return { elapsedMs, leftMs: () => sendLeaseMs - elapsedMs() };
}

export type Request = Parameters<PurchaseActivities['sendPurchase']>[0];

export interface Sender extends WorkDependencies {
  readonly handlers: WorkHandlers;
  readonly readings: WalletReadings;
  readonly purchaseGate: Gate;
  readonly wallet: WalletReader;
}

/** Nothing (more) is sent. */
export interface Ended {
  readonly kind: 'ended';
  readonly result: SendResult;
}

export type Admitted =
  | {
      readonly kind: 'admitted';
      readonly began: RunningLease;
      readonly offer: Offer;
      readonly priceNeeded: boolean;
    }
  | Ended;

export type Claimed =
  | {
      readonly kind: 'claimed';
      /** As it was when the send was claimed. */
      readonly row: WorkRow;
      readonly attempt: AttemptRow;
      readonly leaseToken: string;
      /** Undefined for work that costs nothing. */
      readonly reserved: Reserved | undefined;
      readonly lease: RunningLease;
    }
  | Ended;
