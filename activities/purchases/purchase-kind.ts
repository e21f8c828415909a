import type { CancellationView, CompletionResult, SubscriptionView } from '#activities/work/work-types.ts';
import type { Executor } from '#db/connection/database.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
/** What the activities of purchases must know of each kind of work; everything else is the same for all. */
import type { FailureNote } from '#domain/work/attention.ts';
import type { ServiceFacts } from '#fulfilment/attempts/attempts.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import type { WalletTransaction } from '#upstream/contract.ts';

/** What an attempt is made of, before it is stored. */
export interface PreparedPurchase {
  /** Undefined where the interface takes no reference of ours. */
  readonly reference: string | undefined;
  /** The service's id of the eSIM that it is for, where there is one before it is bought. */
  readonly serviceEsimId?: string;
  /** The exact bytes of the request body. */
  readonly body: Buffer;
}

/** What came of asking the service for an attempt. */
export type Inquiry<Item = unknown> =
  /**
   * `record`: as the service gave it; `event`: the kind of event that would tell of it, if one would. Both are for the
   * inbox.
   */
  | { readonly kind: 'found'; readonly facts: ServiceFacts; readonly record: Item; readonly event: string | undefined }
  /** The service does not know it (yet): no proof that it was not bought. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unavailable'; readonly failure: FailureNote };

/** What the service has for an attempt. */
export type Found<Item = unknown> = Extract<Inquiry<Item>, { kind: 'found' }>;

/** What came of asking for many attempts at once; by the id of the attempt. */
export type ManyInquiries =
  | { readonly kind: 'read'; readonly inquiries: ReadonlyMap<string, Found> }
  | Extract<Inquiry, { kind: 'unavailable' }>;

/** What is offered for a piece of work. */
export interface Offer {
  /** Why it is not sent; undefined when nothing speaks against it. */
  readonly objection?: ServiceFailure | undefined;
  /** What it is going to cost, as far as that is known. */
  readonly price?: Money | undefined;
  /**
   * Looks once more at our own rows, in the transaction that claims the send: other work of the same eSIM may have
   * ended since they were read. Absent where nothing was read from them.
   *
   * @returns why it is not sent after all.
   */
  readonly recheck?: (tx: Executor) => Promise<ServiceFailure | undefined>;
}

/** How one kind of work is bought. Nothing in here decides; it reads, sends and asks. */
export interface PurchaseKind {
  /** @param number of the attempt, from 1. */
  prepare(db: Executor, workId: string, number: number): Promise<PreparedPurchase>;
  /**
   * Looks, just before a send, whether it is still offered, and at which price.
   *
   * @param options.priceNeeded true when it may not go out at a price that was not read for this send.
   */
  examine(workId: string, options: { readonly priceNeeded: boolean }): Promise<Offer>;
  /**
   * @param body the stored bytes, sent as they are.
   * @param leaseLeftMs how long the sole right to send lasts; nothing is sent that might outlast it.
   */
  send(attempt: AttemptRow, body: Buffer, leaseLeftMs: () => number): Promise<ServiceResult<ServiceFacts>>;
  ask(attempt: AttemptRow): Promise<Inquiry>;
  /**
   * Asks for many attempts in few calls, by the newest of the service's list: what that shows of exactly one of them.
   * What it does not show, or not surely, has to be asked about on its own.
   *
   * @param attempts at least one.
   */
  askMany(attempts: readonly AttemptRow[], bounds: { readonly maxPages: number }): Promise<ManyInquiries>;
  /** True when a movement of the service's wallet is for this attempt. */
  owns(attempt: AttemptRow, transaction: WalletTransaction): boolean;
  /** True when a debit might be for this attempt or for another: while there is one, "no debit" cannot be said. */
  isAnonymous(debit: WalletTransaction): boolean;
  /**
   * True when one of these debits, which name what they are for, may be for this attempt all the same, since its name
   * at the service is not known. Absent where an attempt carries a reference of ours, or costs nothing.
   */
  mayOwnOneOf?(attempt: AttemptRow, debits: readonly WalletTransaction[]): Promise<boolean>;
  /**
   * Stores what was bought and completes the work.
   *
   * @throws NotYetError while the service does not answer, or does not show all that is needed.
   */
  complete(attempt: AttemptRow, applied: readonly string[]): Promise<CompletionResult>;
  /** What is known of a subscription, for its workflow; absent where nothing lives on. */
  readonly subscription?: (db: Executor, workId: string) => Promise<SubscriptionView>;
  /** What is known of a cancellation, for its workflow; absent for every other kind. */
  readonly cancellation?: (db: Executor, workId: string) => Promise<CancellationView>;
}
