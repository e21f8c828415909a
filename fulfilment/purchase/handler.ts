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
import type { CircuitChange } from '#fulfilment/gate/circuits.ts';
import type { Reserved } from '#fulfilment/gate/reservations.ts';
import type { Gate } from '#fulfilment/purchase/gate.ts';
import type { WalletReader } from '#fulfilment/purchase/wallet-reader.ts';
import type { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

/** The content of an attempt, before it is stored. */
interface PreparedPurchase {
  /** Undefined where the interface takes no reference of ours. */
  readonly reference: string | undefined;
  /** The service's id of the eSIM, where the eSIM exists before the purchase. */
  readonly serviceEsimId?: string;
  /** The exact bytes of the request body. */
  readonly body: Buffer;
}

/** The result of looking one attempt up at the service. */
export type LookUpResult<Item = unknown> =
  /**
   * `record`: as the service sent it. `event`: the kind of event that reports the same; undefined when no event does.
   * Both are stored in the inbox.
   */
  | { readonly kind: 'found'; readonly facts: AttemptReport; readonly record: Item; readonly event: string | undefined }
  /** The service does not know it (yet). That does not prove that it was not bought. */
  | { readonly kind: 'not_found' }
  /** `isOurs`: the service names the purchase in a record that cannot be read. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly isOurs?: true };

/** An attempt that the service knows. */
export type Found<Item = unknown> = Extract<LookUpResult<Item>, { kind: 'found' }>;

/** The result of looking many attempts up at once, by the id of the attempt. */
export type LookUpManyResult =
  | { readonly kind: 'read'; readonly results: ReadonlyMap<string, Found> }
  | Extract<LookUpResult, { kind: 'unavailable' }>;

/** The service's offer for a piece of work, read before a send. */
interface Offer {
  /** Why it is not sent; undefined when it may be sent. */
  readonly objection?: ServiceFailure | undefined;
  /** The price; undefined when it is not known. */
  readonly price?: Money | undefined;
  /**
   * Reads our own rows again in the transaction that claims the send: other work of the same eSIM may have ended since.
   * Absent when the offer did not depend on them.
   *
   * @returns why it is not sent after all.
   */
  readonly recheck?: (tx: Executor) => Promise<ServiceFailure | undefined>;
}

/** How one kind of work is prepared, sent, looked up and completed. The decisions are in `domain/`. */
export interface WorkHandler {
  /**
   * @param row of the work, with all columns of its kind.
   * @param number of the attempt, from 1.
   */
  prepare(db: Executor, row: WorkRow, number: number): Promise<PreparedPurchase>;
  /**
   * Reads, just before a send, whether the service still offers it, and the price.
   *
   * @param row of the work, with all columns of its kind.
   * @param options.priceNeeded true when the price must be read for this send, not taken from a cache.
   */
  examine(row: WorkRow, options: { readonly priceNeeded: boolean }): Promise<Offer>;
  /**
   * @param row of the work, with all columns of its kind.
   * @param body the stored bytes, sent as they are.
   * @param leaseLeftMs milliseconds until the lease ends. The client does not send when its deadline would end later.
   */
  send(
    attempt: AttemptRow,
    row: WorkRow,
    body: Buffer,
    leaseLeftMs: () => number,
  ): Promise<ServiceResult<AttemptReport>>;
  /** Looks one attempt up at the service. */
  lookUp(attempt: AttemptRow): Promise<LookUpResult>;
  /**
   * Looks many attempts up in the newest pages of the service's list. An attempt that the list does not clearly show
   * needs a single look-up.
   *
   * @param attempts at least one.
   */
  lookUpMany(attempts: readonly AttemptRow[], bounds: { readonly maxPages: number }): Promise<LookUpManyResult>;
  /**
   * Stores what was bought and completes the work.
   *
   * @throws NotYetError while the service does not answer, or does not show all that is needed.
   */
  complete(attempt: AttemptRow, applied: readonly string[]): Promise<CompletionResult>;
  /** The stored subscription, for its workflow; absent for every other kind. */
  readonly subscription?: (db: Executor, workId: string) => Promise<SubscriptionSnapshot>;
  /** The stored cancellation, for its workflow; absent for every other kind. */
  readonly cancellation?: (db: Executor, workId: string) => Promise<CancellationSnapshot>;
}

export type WorkHandlers = Readonly<Record<WorkKind, WorkHandler>>;

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

/** The lease of a send, measured by the process that holds it. Its clock is compared with no other. */
export interface RunningLease {
  /** Milliseconds since it began. */
  readonly elapsedMs: () => number;
  /** Milliseconds until it ends; zero or less: another process may hold it. */
  readonly leftMs: () => number;
}

/**
 * Begins to measure a lease. Called before the transaction that takes it, so that it never ends here later than in the
 * database.
 *
 * The larger elapsed time of two clocks counts: the monotonic one stops while the machine sleeps, the wall clock may be
 * set back.
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
