/** What the use cases do differently for a kind of work: one entry for each kind. What is absent needs nothing more. */
import type { Executor } from '#db/connection/database.ts';
import { isCancelledAlready } from '#db/work/cancellation-queries.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { PurchaseEvent } from '#domain/relay/observation.ts';
import type { AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import { correctCancellation, type Resolution, verdictOfCancelled } from '#fulfilment/operator/correct-cancellation.ts';
import {
  cancellationInContext,
  findNewestCancellation,
  findUnsettledTopup,
  type InboxMatch,
  type NamedPurchase,
  type ReportInContext,
  subscriptionInContext,
} from '#fulfilment/reports/reports-by-kind.ts';

interface FulfilledKind {
  /** Finds the attempt of a report whose id and reference match none. @returns the ids of the attempt and its work. */
  readonly findByEsim?: (
    db: Executor,
    named: NamedPurchase,
  ) => Promise<{ readonly id: string; readonly subjectId: string } | undefined>;
  /** Judges a report together with what is known already; without it a report speaks for itself. */
  readonly inContext?: (tx: Executor, match: InboxMatch, event: PurchaseEvent) => Promise<ReportInContext>;
  /** True when it is known to have happened although its work goes on; verdicts on cases depend on it. */
  readonly isCancelled?: (tx: Executor, id: string) => Promise<boolean>;
  /** Stores an operator's verdict in its own rows; the attempt is corrected as for every kind. */
  readonly correct?: (tx: Executor, work: WorkRef, verdict: Resolution, now: Date) => Promise<void>;
  /** What the verdict `bought` means for the attempt; without it that is the same for each piece of work. */
  readonly verdictOfBought?: (tx: Executor, attempt: AttemptRow) => Promise<AttemptEvent>;
}

export const FULFILMENT_KINDS: Readonly<Record<WorkKind, FulfilledKind>> = {
  order: {},
  topup: { findByEsim: findUnsettledTopup },
  vpn_subscription: { inContext: subscriptionInContext },
  cancellation: {
    findByEsim: findNewestCancellation,
    inContext: cancellationInContext,
    isCancelled: isCancelledAlready,
    correct: correctCancellation,
    verdictOfBought: verdictOfCancelled,
  },
};
