import type { CancellationSnapshot, CompletionResult, SubscriptionSnapshot } from '#activities/work/work-types.ts';
import type { Executor } from '#db/connection/database.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { AttemptReport } from '#fulfilment/attempts/record-report.ts';
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
export interface Offer {
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
