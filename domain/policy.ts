/**
 * Every delay, limit and count of the product with the reason for its value, in one typed place. A workflow gets its
 * copy in its input and never reads configuration; tests shorten the values.
 */

import type { Money } from '#domain/money/money.ts';
import {
  RELAY_POLICY,
  TEMPORAL_HEALTH_POLICY,
  type RelayPolicy,
  type TemporalHealthPolicy,
} from '#domain/relay/relay-policy.ts';
import { SWEEP_POLICY, type SweepPolicy } from '#domain/relay/sweep-policy.ts';
import type { RetrySettings } from '#domain/work/retry-rules.ts';
import { DEFAULT_WORKFLOW_POLICY, type WorkflowPolicy } from '#domain/workflow-policy.ts';

/** Durations are in milliseconds. When what failed is tried again stands in {@link RetrySettings}, and how workflows
 * wait in {@link WorkflowPolicy}. */
export interface PurchasePolicy extends RetrySettings, WorkflowPolicy {
  /** Total deadline of one HTTP send. Long enough for a service that buys from a supplier while we wait. */
  readonly sendDeadlineMs: number;
  /**
   * How long the database grants one send the sole right to an attempt. More than `sendDeadlineMs` by what lies between
   * the claim and the wire (a commit, a read, perhaps a login): nothing leaves whose deadline would not end before the
   * lease.
   */
  readonly sendLeaseMs: number;
  /** Start-to-close timeout of the sending activity: the price is read (one deadline), then sent (one lease). A lost
   * worker is noticed sooner, by its missing heartbeat; what it may still be sending, its lease guards. */
  readonly sendActivityTimeoutMs: number;
  /** May an attempt whose outcome is unknown be sent again with its key? False in production until an operator has
   * confirmed that the service replays keys. */
  readonly resendAllowed: boolean;
  /**
   * Since the first send of the attempt that was not definitely refused. The service does not state how long it keeps
   * keys; ten minutes is less than any retention we know of (a day at the usual payment services).
   */
  readonly resendWindowMs: number;
  /** First wait before the same bytes are sent again; doubled each time. */
  readonly resendDelayMs: number;
  readonly resendDelayMaxMs: number;
  /** How often the service is asked about an attempt of unknown outcome before it is parked; the reconciler asks on. */
  readonly lookUps: number;
  /**
   * How long work that the service has accepted may stay without a word of its end. Then it is asked for, and what the
   * service cannot say is for a person. Suppliers take minutes, and the reconciler asks all the while where it can: a
   * week without an end is no delay any more. The same for a VPN subscription whose end, or whose accepted
   * cancellation, it does not tell.
   */
  readonly silentDeadlineMs: number;
  /** How long the delivery of a bought eSIM is tried before a person is told. */
  readonly deliveryDeadlineMs: number;
  /** How long after an explicit failure the wallet is read as evidence: debits may show late. */
  readonly settleDelayMs: number;
  /** How often the wallet is read before a failure without evidence is parked. */
  readonly settleReads: number;
  /**
   * How long the refund of a cancelled eSIM is waited for before a person is told. A person may review it at the
   * service, which takes days; after two weeks nobody is at it any more.
   */
  readonly refundDeadlineMs: number;
  /** The same where the caller accepted that none may come. Events come in any order, seconds apart. */
  readonly refundGraceMs: number;
  /**
   * How long an accepted cancellation of a VPN subscription is waited for before the service is asked; doubled each
   * time. Its event takes seconds, and is lost now and then. So it is with a question how one stands that was not
   * answered.
   */
  readonly cancelCheckMs: number;
  readonly cancelCheckMaxMs: number;
  /** The service may tell of the end of a VPN subscription a little late; only then is it asked. */
  readonly expiryGraceMs: number;
  /** How often the state of a VPN subscription is read whose end nobody named: there is nothing else to wait for. */
  readonly unknownExpiryCheckMs: number;
}

export interface ReconcilePolicy {
  /** Work the service has accepted counts as silent when nothing was heard of it for this long. */
  readonly silentAfterMs: number;
  /**
   * The older silent work is, the longer it is left alone between two questions: by this share of its age, up to
   * `askAgainMaxMs`. A review of two weeks is asked about some hundred times and not ten thousand.
   */
  readonly askAgainShare: number;
  readonly askAgainMaxMs: number;
  /** How often the reconciler runs. */
  readonly everyMs: number;
  /** Work looked at in one run. */
  readonly silentPerRun: number;
  /** Single reads asked of the service in one run, so that a backlog cannot use up the rate limit. */
  readonly readsPerRun: number;
  /** From so much silent work of one kind on, its list is read first: a page of it is one read. */
  readonly listFrom: number;
  /** Pages of such a list in one run; what they do not show is asked about one by one. */
  readonly listPages: number;
}

export interface BooksPolicy {
  /**
   * How often our books are compared with the wallet. Money that is lost is to be noticed within the hour, and a wallet
   * of thousands of movements a day is some pages.
   */
  readonly everyMs: number;
  /** How much of what was read before is read again: debits may show late, under the time at which they were made. */
  readonly overlapMs: number;
  /**
   * A movement younger than this may still be without a cause: its answer is on its way, it is sent again
   * (`resendWindowMs`), looked up, or found by the reconciler.
   */
  readonly graceMs: number;
  /** Two debits of one VPN subscription within this are one too many. No plan is known to be shorter than a day. */
  readonly shortestPeriodMs: number;
  /** Pages of 100 movements read in one run. More than a day's worth of a busy shop; a longer outage needs more. */
  readonly pages: number;
  /** For all of those pages. */
  readonly readDeadlineMs: number;
  /** How long reports are kept. A quarter: what is not looked into by then is in the books of somebody else. */
  readonly reportsKeptMs: number;
}

/** How long the wallet lasts, and from when on that is too short. */
export interface RunwayPolicy {
  /** Sales of so many days are looked at: two weeks hold each day of the week twice. */
  readonly windowDays: number;
  /** Of fewer days nothing is said: a mean of one day is none. */
  readonly minimumDays: number;
  /**
   * A balance that is older says nothing about the wallet of now. The comparison of the books reads it every
   * `books.everyMs`.
   */
  readonly balanceAgeMs: number;
  /** A wallet that lasts shorter is announced. Money takes up to three days from one bank to another. */
  readonly lowMs: number;
}

/** How eSIMs and subscriptions are watched for what runs out. */
export interface WatchPolicy {
  /** How often a batch is looked at. */
  readonly everyMs: number;
  /** Calls to the service in one run, so that a large stock of eSIMs cannot use up the rate limit. */
  readonly readsPerRun: number;
  /**
   * How long the reading of an eSIM in use is good for. A customer uses up a package in days, and who is told a quarter
   * of a day late can still top up.
   */
  readonly againAfterMs: number;
  /** The same of one that is not in use yet, or is used up: it hardly changes. */
  readonly idleAfterMs: number;
  /** Shares of the data, from 0 to 1: what is left at or below one is announced. */
  readonly dataLow: readonly number[];
  /** What ends within one of these is announced. */
  readonly expiringMs: readonly number[];
  /** Rows announced in one transaction. */
  readonly batch: number;
}

export interface WebhookSilencePolicy {
  /** How far back it is looked for news that webhooks should have brought. */
  readonly windowMs: number;
  /** So many pieces of news found by asking, and no webhook since the first of them: webhooks do not arrive. One lost
   * webhook is usual, several in a row are not. */
  readonly news: number;
}

export interface WebhookSecretPolicy {
  /** How long a former webhook secret of the service still verifies after a rotation. The specification states neither
   * how soon the service signs with the new one nor how long it goes on delivering what it signed before; a day is what
   * senders that try again for hours need, and a secret that leaked is rotated with an overlap of nothing. */
  readonly overlapMs: number;
}

/** How events are delivered to webhook endpoints of internal systems. */
export interface OutboundPolicy {
  /**
   * Total deadline of one try. Receivers are to answer first and work afterwards; Standard Webhooks asks for 15 to 30
   * s.
   */
  readonly sendDeadlineMs: number;
  /**
   * How long a try has its delivery to itself. More than the deadline, so that only a worker that died lets go of it.
   */
  readonly leaseMs: number;
  /**
   * First wait before a delivery is tried again; doubled each time. A receiver that is just restarting is back by then.
   */
  readonly retryDelayMs: number;
  /** Longest such wait: the end of an outage is found by the next delivery or probe, not by this. */
  readonly retryDelayMaxMs: number;
  /** How long one delivery is tried. A receiver that broke on Friday evening is looked at on Monday morning. */
  readonly retryForMs: number;
  /**
   * So many tries failed in a row, and the endpoint counts as failing: it gets one delivery at a time. Fewer may be
   * single events that it cannot take.
   */
  readonly failingAfter: number;
  /** Longest wait between those: an outage that is over is noticed within this. */
  readonly probeDelayMaxMs: number;
  /** An endpoint without a single success for so long is disabled. Longer than one delivery is tried. */
  readonly disableAfterMs: number;
  /** Deliveries sent to one endpoint at a time. */
  readonly lanes: number;
  /**
   * How long one round of sending goes on before the next endpoint has its turn; a round ends with the tries under way,
   * within the grace that a stopping worker has.
   */
  readonly roundMs: number;
  /** How long a delivery that has ended stays in the log. */
  readonly logKeptMs: number;
  /** How long the former secret of an endpoint still signs after a rotation, where the caller names no other time. */
  readonly secretOverlapMs: number;
}

/** How callers wait for answers. */
export interface WaitingPolicy {
  /** The longest wait of one request. Below the minute after which the usual load balancers give an answer up. */
  readonly maxMs: number;
  /**
   * Requests that wait at a time in one process; one more is answered at once. Each costs some kilobytes and a
   * connection.
   */
  readonly maxWaiting: number;
  /** Of those, requests of one API key: none takes the place of all others. */
  readonly maxWaitingPerKey: number;
  /** Slow poll for new events beside NOTIFY, for notifications that were lost. */
  readonly pollMs: number;
}

/** How events are streamed. */
export interface StreamPolicy {
  /**
   * Streams that one API key may hold open in one process. A live view for each of a few people, and room for what
   * reconnects.
   */
  readonly perKey: number;
  /**
   * How often a quiet stream says that it lives, and its key is looked at again. Idle connections are cut after a
   * minute on the usual way, and a revoked key is to see no more within seconds.
   */
  readonly heartbeatMs: number;
  /**
   * Events that wait for a slow reader; one that is further behind is cut, and goes on from where it was when it comes
   * again.
   */
  readonly maxBehind: number;
  /** How long a reader may take nothing at all. */
  readonly stallMs: number;
}

/** What the purchase gate goes by; see `docs/adr/0010-purchase-gate.md`. */
export interface GatePolicy {
  /** A reading of the wallet that is older is not reserved against: it is read anew. Others may use the wallet too. */
  readonly balanceAgeMs: number;
  /**
   * A reading that does not suffice is believed for this long, so that a thousand held orders are not a thousand reads.
   */
  readonly balanceTrustMs: number;
  /**
   * How long a price is taken as known where it only serves to reserve money and to count what is spent. A price limit
   * of the caller is always checked against a price that was read for it.
   */
  readonly priceAgeMs: number;
  /** A debit may show this late in the balance; until then its reservation is counted. As long as `settleDelayMs`. */
  readonly debitShowsAfterMs: number;
  /** The most that is spent in a day (UTC) by all keys together; undefined: no limit. */
  readonly spendLimit: Money | undefined;
  /** A balance below this is reported, in the currency of the wallet; undefined: none is. */
  readonly lowBalance: Money | undefined;
  /**
   * Failures in a row after which a condition is taken to concern the service as a whole. Three in a row, over all
   * work, are hardly three accidents. `not_approved` needs one.
   */
  readonly circuitFailures: number;
  /** First wait before a canary is let through an open circuit; doubled each time, and spread by a fifth. */
  readonly probeDelayMs: number;
  /** An outage that is over is noticed within this. */
  readonly probeDelayMaxMs: number;
  /** A canary that was not heard of for this long is given up: it is woken, reads a price and sends. */
  readonly canaryLeaseMs: number;
  /**
   * An open circuit whose canary has been due for this long, with no work that could be one, closes on trial: it would
   * stay open, and alert, until the next purchase. Longer than the longest wait for a canary, so that an outage is not
   * taken for an idle time.
   */
  readonly circuitIdleMs: number;
  /** How many held purchases a second go on once what held them is over. */
  readonly releasesPerSecond: number;
  /** How often the gate looks what it can let through. */
  readonly tickMs: number;
  /** Held work asks the gate by itself after this, should it never be woken. */
  readonly recheckMs: number;
  /** How often the service is looked at while its shapes have not been seen and purchases are held: some ten calls. */
  readonly firstContactMs: number;
}

export interface Policy {
  readonly gate: GatePolicy;
  readonly outbound: OutboundPolicy;
  readonly purchase: PurchasePolicy;
  readonly reconcile: ReconcilePolicy;
  readonly relay: RelayPolicy;
  readonly temporalHealth: TemporalHealthPolicy;
  readonly sweep: SweepPolicy;
  readonly books: BooksPolicy;
  readonly runway: RunwayPolicy;
  readonly watch: WatchPolicy;
  readonly webhookSecret: WebhookSecretPolicy;
  readonly webhookSilence: WebhookSilencePolicy;
  readonly waiting: WaitingPolicy;
  readonly streams: StreamPolicy;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export const DEFAULT_POLICY: Policy = {
  purchase: {
    sendDeadlineMs: 20 * second,
    sendLeaseMs: 30 * second,
    sendActivityTimeoutMs: minute,
    resendAllowed: true,
    resendWindowMs: 10 * minute,
    resendDelayMs: 2 * second,
    resendDelayMaxMs: 2 * minute,
    holdDelayMs: 15 * second,
    holdDelayMaxMs: 10 * minute,
    holdDeadlineMs: 24 * hour,
    lookUps: 3,
    silentDeadlineMs: 7 * 24 * hour,
    deliveryDeadlineMs: hour,
    settleDelayMs: 30 * second,
    settleReads: 5,
    refundDeadlineMs: 14 * 24 * hour,
    refundGraceMs: 10 * minute,
    cancelCheckMs: minute,
    cancelCheckMaxMs: hour,
    expiryGraceMs: 10 * minute,
    unknownExpiryCheckMs: 24 * hour,
    ...DEFAULT_WORKFLOW_POLICY,
    maxAttempts: 3,
    attemptDelayMs: 30 * second,
  },
  gate: {
    balanceAgeMs: minute,
    balanceTrustMs: 5 * second,
    priceAgeMs: 5 * minute,
    debitShowsAfterMs: 30 * second,
    spendLimit: undefined,
    lowBalance: undefined,
    circuitFailures: 3,
    probeDelayMs: 5 * second,
    probeDelayMaxMs: 2 * minute,
    canaryLeaseMs: 90 * second,
    circuitIdleMs: 5 * minute,
    releasesPerSecond: 5,
    tickMs: second,
    recheckMs: 10 * minute,
    firstContactMs: 3 * minute,
  },
  reconcile: {
    silentAfterMs: 2 * minute,
    askAgainShare: 1 / 20,
    askAgainMaxMs: 6 * hour,
    everyMs: minute,
    silentPerRun: 2_000,
    readsPerRun: 200,
    listFrom: 10,
    listPages: 40,
  },
  relay: RELAY_POLICY,
  temporalHealth: TEMPORAL_HEALTH_POLICY,
  sweep: SWEEP_POLICY,
  books: {
    everyMs: 15 * minute,
    overlapMs: 2 * hour,
    graceMs: 30 * minute,
    shortestPeriodMs: 24 * hour,
    pages: 200,
    readDeadlineMs: 2 * minute,
    reportsKeptMs: 90 * 24 * hour,
  },
  watch: {
    everyMs: 5 * minute,
    readsPerRun: 100,
    againAfterMs: 6 * hour,
    idleAfterMs: 24 * hour,
    dataLow: [0.2, 0.05],
    expiringMs: [72 * hour, 24 * hour],
    batch: 500,
  },
  runway: { windowDays: 14, minimumDays: 3, balanceAgeMs: hour, lowMs: 3 * 24 * hour },
  webhookSecret: { overlapMs: 24 * hour },
  webhookSilence: { windowMs: hour, news: 5 },
  outbound: {
    sendDeadlineMs: 15 * second,
    leaseMs: 30 * second,
    retryDelayMs: 5 * second,
    retryDelayMaxMs: 6 * hour,
    retryForMs: 3 * 24 * hour,
    failingAfter: 5,
    probeDelayMaxMs: 15 * minute,
    disableAfterMs: 5 * 24 * hour,
    lanes: 4,
    roundMs: 5 * second,
    logKeptMs: 30 * 24 * hour,
    secretOverlapMs: 24 * hour,
  },
  waiting: { maxMs: 50 * second, maxWaiting: 10_000, maxWaitingPerKey: 2_500, pollMs: 2 * second },
  streams: { perKey: 10, heartbeatMs: 15 * second, maxBehind: 1_000, stallMs: 30 * second },
};

/** A quarter: by then the books of the service are closed. */
export const MAX_REFUND_DEADLINE_MS = 92 * 24 * hour;

/** Longer waits are cut by proxies, and a caller who wants more asks again. */
export const MAX_WAIT_MS = 10 * minute;

/**
 * Of webhook secrets, the service's and ours, and of API keys. A month: whoever wants a longer overlap wants no
 * rotation.
 */
export const MAX_WEBHOOK_SECRET_OVERLAP_MS = 30 * 24 * hour;

/**
 * How much of its time of silence a caller may use at once: a shop that shows a page asks for several things together,
 * and ten seconds' worth of them in one moment is no harm.
 */
export const BURST_MS = 10_000;

/** Failed authentications count by the minute: a person who mistypes is never stopped for longer. */
export const FAILURE_WINDOW_MS = 60_000;

/**
 * For how long a key that was valid is looked up even if its address is full of failures. Longer than callers usually
 * pause.
 */
export const KNOWN_KEY_MS = hour;

/**
 * How long a rotated API key still works when nobody says otherwise: a day, in which whoever deploys the new one is at
 * work once.
 */
export const DEFAULT_KEY_OVERLAP_MS = 24 * hour;
/** A round of sending must end within the time that its activity has. */
export const MAX_OUTBOUND_DEADLINE_MS = minute;

/** With less between the deadline of a send and the end of its lease, a busy machine would hardly get anything sent. */
export const MIN_SEND_MARGIN_MS = second;

/** @returns what is inconsistent about a purchase policy, in words; empty when it is sound. */
export function purchasePolicyProblems(policy: PurchasePolicy): string[] {
  const problems: string[] = [];
  if (policy.sendDeadlineMs + MIN_SEND_MARGIN_MS > policy.sendLeaseMs) {
    problems.push('sendDeadlineMs must be below sendLeaseMs, by a second at least');
  }
  if (policy.sendDeadlineMs + policy.sendLeaseMs > policy.sendActivityTimeoutMs) {
    problems.push('sendActivityTimeoutMs must be at least sendDeadlineMs and sendLeaseMs together');
  }
  if (policy.maxAttempts < 1) problems.push('maxAttempts must be at least 1');
  return problems;
}

/** The `n`-th wait (from 1) of a doubling series with a ceiling, in milliseconds. */
export function backoffMs(first: number, ceiling: number, n: number): number {
  return Math.min(ceiling, first * 2 ** Math.min(Math.max(n, 1) - 1, 30));
}
