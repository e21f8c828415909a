/**
 * What must hold once everything is quiet, whatever happened before: each order cost at most once, our journal equals
 * the service's ledger, and nothing that was accepted (an order by us, a webhook with 2xx) is lost.
 */
import Big from 'big.js';
import type { Database, Executor } from '#db/connection/database.ts';
import {
  attempts,
  cancellations,
  cases,
  esims,
  inbox,
  journal,
  orders,
  outbox,
  refunds,
  topups,
  vpnSubscriptions,
} from '#db/schema.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import {
  SimulatorAdmin,
  type LedgerLine,
  type SentWebhook,
  type SoldOrder,
} from '#test/support/network/simulator-admin.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** Both sides of the books; a {@link Stack} is one. */
export interface BothSides {
  readonly database: Database;
  readonly simulator: HttpClient;
}

export interface BooksOptions {
  /** Ids of orders that our API answered with 202. */
  readonly accepted?: readonly string[];
  /**
   * Ids of parked orders whose wallet movements we cannot know (no evidence was read, or nobody could read it). Their
   * journal may lack what the ledger has; everything else is checked.
   */
  readonly unsettled?: readonly string[];
  /** How long to wait until nothing is under way any more. */
  readonly timeoutMs?: number;
  /** May what was acknowledged at this time be gone, since PostgreSQL was set back? */
  readonly mayBeLost?: (atMs: number) => boolean;
}

type AttemptRow = typeof attempts.$inferSelect;
type JournalRow = typeof journal.$inferSelect;

/** What of an order or a top-up counts here. */
interface Work {
  readonly kind: WorkKind;
  readonly id: string;
  readonly status: WorkStatus;
  readonly attentionReason: string | null;
  /** A subscription whose customer has ended it goes on, however it stands. */
  readonly cancelRequested?: boolean;
}

interface Books {
  readonly work: readonly Work[];
  readonly attempts: readonly AttemptRow[];
  readonly journal: readonly JournalRow[];
  readonly refunds: readonly (typeof refunds.$inferSelect)[];
  readonly esims: readonly (typeof esims.$inferSelect)[];
  readonly openCases: readonly (typeof cases.$inferSelect)[];
  readonly inbox: readonly (typeof inbox.$inferSelect)[];
  /** Of the service. */
  readonly ledger: readonly LedgerLine[];
  readonly sold: readonly SoldOrder[];
  readonly webhooks: readonly SentWebhook[];
}

// Rows that a dead relay had in hand come again after 30 s; a reconciler that died with its worker runs again after 60
// s.
const QUIET_MS = 110_000;

/** Waits until nothing is under way, then compares both sides. @throws Error that lists every difference. */
export async function checkBooks(stack: BothSides, options: BooksOptions = {}): Promise<void> {
  const differences = await auditBooks(stack, options);
  if (differences.length === 0) return;
  throw new Error(
    `the books differ in ${differences.length} points:\n${differences.map((each) => `- ${each}`).join('\n')}`,
  );
}

/** As {@link checkBooks}. @returns the differences, as sentences; none when all is well. */
export async function auditBooks(stack: BothSides, options: BooksOptions = {}): Promise<string[]> {
  const restless = await becomeQuiet(stack, options.timeoutMs ?? QUIET_MS);
  const books = await readBooks(stack);
  return [
    ...restless,
    ...lostOrders(books, options.accepted ?? []),
    ...openEnds(books),
    ...costs(books),
    ...movements(books, new Set(options.unsettled)),
    ...refundedMoney(books),
    ...goods(books),
    ...lostWebhooks(books, options),
  ];
}

/** Waits until nothing is under way. @returns what still is after the time, as sentences. */
export async function becomeQuiet({ database, simulator }: BothSides, timeoutMs: number = QUIET_MS): Promise<string[]> {
  const admin = new SimulatorAdmin(simulator);
  const underWay = async (): Promise<string[]> => {
    const [rows, waiting, entries] = await database.run((db) =>
      Promise.all([readWork(db), db.select().from(outbox), db.select().from(inbox)]),
    );
    const open = rows.filter(
      ({ status, cancelRequested }) =>
        (!isSettled(status) || (status === 'active' && cancelRequested === true)) && status !== 'needs_attention',
    );
    const words = entries.filter(({ state }) => state === 'pending' || state === 'relayed');
    const unsent = (await admin.webhooks()).filter(({ status }) => status === 'pending');
    return [
      ...open.map(({ kind, id, status }) => `${kind} ${id} is still ${status}`),
      ...waiting
        .filter(({ quarantinedAt }) => quarantinedAt === null)
        .map(
          ({ subjectId, tries, lastError }) =>
            `the start of ${subjectId} waits (${tries} tries, ${lastError ?? 'no error'})`,
        ),
      ...words.map(
        ({ id, event, state, subjectId, lastError }) =>
          `inbox row ${id} (${event}, ${subjectId ?? 'unmatched'}) is still ${state}: ${lastError ?? 'no error'}`,
      ),
      ...unsent.map(({ id, event }) => `the service still tries to deliver ${event} (${id})`),
    ];
  };
  try {
    await waitFor('nothing is under way', async () => (await underWay()).length === 0, { timeoutMs, everyMs: 200 });
    return [];
  } catch {
    return underWay();
  }
}

async function readWork(db: Executor): Promise<Work[]> {
  const bought = (await db.select().from(orders)).map((row): Work => ({ kind: 'order', ...row }));
  const recharged = (await db.select().from(topups)).map((row): Work => ({ kind: 'topup', ...row }));
  const subscribed = (await db.select().from(vpnSubscriptions)).map((row): Work => ({
    kind: 'vpn_subscription',
    ...row,
    cancelRequested: row.cancelRequestedAt !== null,
  }));
  const cancelled = (await db.select().from(cancellations)).map((row): Work => ({ kind: 'cancellation', ...row }));
  return [...bought, ...recharged, ...subscribed, ...cancelled];
}

async function readBooks({ database, simulator }: BothSides): Promise<Books> {
  const admin = new SimulatorAdmin(simulator);
  const [ledger, sold, webhooks] = await Promise.all([admin.ledger(), admin.orders(), admin.webhooks()]);
  return database.run(async (db) => ({
    work: await readWork(db),
    attempts: await db.select().from(attempts),
    journal: await db.select().from(journal),
    refunds: await db.select().from(refunds),
    esims: await db.select().from(esims),
    openCases: (await db.select().from(cases)).filter(({ closedAt }) => closedAt === null),
    inbox: await db.select().from(inbox),
    ledger: ledger.filter(({ reason }) => reason !== 'deposit'),
    sold,
    webhooks,
  }));
}

function lostOrders({ work }: Books, accepted: readonly string[]): string[] {
  const known = new Set(work.map(({ id }) => id));
  return accepted.filter((id) => !known.has(id)).map((id) => `${id} was answered with 202 and is not stored`);
}

/** Work has ended, or a person is told what it waits for. */
function openEnds({ work, openCases }: Books): string[] {
  return work.flatMap(({ kind, id, status, attentionReason }) => {
    if (isSettled(status)) return [];
    if (status !== 'needs_attention') return [`${kind} ${id} neither ended nor waits for a person: ${status}`];
    const told = openCases.some(({ subjectId, reason }) => subjectId === id && reason === attentionReason);
    return told
      ? []
      : [`${kind} ${id} is parked (${attentionReason ?? 'no reason'}) without an open case that says so`];
  });
}

/** It has ended, or lives on until its time is over. */
function isSettled(status: WorkStatus): boolean {
  return isFinal(status) || status === 'active';
}

const BOUGHT: ReadonlySet<WorkStatus> = new Set(['completed', 'active', 'cancelled', 'expired']);

/**
 * True when a movement at the service is for this attempt: orders name our reference, top-ups only the service's id.
 */
export function isFor({ subjectKind, reference, serviceId }: AttemptRow, line: LedgerLine): boolean {
  if (isRefund(line)) return false;
  if (subjectKind === 'order') return line.external_order_id !== null && line.external_order_id === reference;
  if (subjectKind === 'vpn_subscription')
    return line.external_subscription_id !== null && line.external_subscription_id === reference;
  if (subjectKind === 'cancellation') return false;
  return line.topup_id !== null && line.topup_id === serviceId;
}

/** True for the credit of a cancelled eSIM, which is booked with its cancellation. */
function isRefund({ refund_id: refundId }: LedgerLine): boolean {
  return refundId !== null;
}

/** A refund that counts as completed is one credit at the service and one in our journal; another is in neither. */
function refundedMoney({ refunds, journal, ledger }: Books): string[] {
  const known = new Set(refunds.map(({ serviceRefundId }) => serviceRefundId));
  const unknown = ledger
    .filter((line) => isRefund(line) && !known.has(line.refund_id))
    .map((line) => `the service has ${movementText(line)} for refund ${line.refund_id}, which is none of ours`);
  // An order may have several: that of a cancellation that was refused, and that of a further one.
  const unequal = [...Map.groupBy(refunds, ({ orderId }) => orderId)].flatMap(([orderId, ofOrder]) => {
    const paid = (serviceRefundId: string | null) =>
      ledger.filter(({ refund_id: refundId }) => refundId !== null && refundId === serviceRefundId).map(movementText);
    const theirs = ofOrder.flatMap(({ serviceRefundId }) => paid(serviceRefundId));
    const ours = journal
      .filter(({ causeKind, causeId }) => causeKind === 'refund' && causeId === orderId)
      .map(movementText);
    const completed = ofOrder.filter(({ status }) => status === 'completed');
    const arePaid =
      completed.length === 0 ||
      (ours.length === 1 && completed.every(({ serviceRefundId }) => paid(serviceRefundId).length === 1));
    if (arePaid && (ours.length === 0 || ours.join() === theirs.join())) return [];
    const names = ofOrder.map(({ id, status }) => `${id} (${status})`).join(', ');
    return [
      `refunds ${names}:\n    the service: ${theirs.join(', ') || 'nothing'}\n    our journal: ${ours.join(', ') || 'nothing'}`,
    ];
  });
  return [...unknown, ...unequal];
}

/** What work cost: once when completed, at most once when parked, nothing when it ended otherwise. */
function costs({ work, attempts, ledger }: Books): string[] {
  return work
    .filter(({ kind }) => kind !== 'cancellation')
    .flatMap(({ kind, id, status }) => {
      const own = attempts
        .filter(({ subjectId }) => subjectId === id)
        .flatMap((each) => ledger.filter((line) => isFor(each, line)));
      const net =
        own.filter(({ type }) => type === 'debit').length - own.filter(({ type }) => type === 'credit').length;
      const [least, most] = BOUGHT.has(status) ? [1, 1] : [0, status === 'needs_attention' ? 1 : 0];
      if (net >= least && net <= most) return [];
      const allowed = least === most ? `${most}` : `at most ${most}`;
      return [
        `${kind} ${id} (${status}) has ${net} net debits at the service, allowed is ${allowed}: ${own.map(movementText).join(', ')}`,
      ];
    });
}

/** Each movement at the service belongs to exactly one attempt, and our journal has the same ones. */
function movements({ attempts, journal, ledger }: Books, unsettled: ReadonlySet<string>): string[] {
  const ids = new Set(attempts.map(({ id }) => id));
  // Of a top-up of unknown outcome we do not know the service's id; only one may be under way for an eSIM.
  const mayBeUnsettled = ({ topup_id: topup, esim_id: esim }: LedgerLine) =>
    topup !== null &&
    attempts.some(({ subjectId, serviceEsimId }) => unsettled.has(subjectId) && serviceEsimId === esim);
  const orphans = [
    ...ledger
      .filter((line) => !isRefund(line) && !attempts.some((attempt) => isFor(attempt, line)) && !mayBeUnsettled(line))
      .map(
        (line) =>
          `the service has ${movementText(line)} for ${line.external_order_id ?? line.topup_id ?? 'nothing named'}, which is no attempt of ours`,
      ),
    ...journal
      // Deposits, and what a comparison of the books has added, are no attempt's.
      .filter(({ causeKind, causeId }) => causeKind === 'attempt' && !ids.has(causeId))
      .map((row) => `our journal has ${movementText(row)} for ${row.causeId}, which is no attempt of ours`),
  ];
  const unequal = attempts.flatMap((attempt) => {
    const theirs = ledger
      .filter((line) => isFor(attempt, line))
      .map(movementText)
      .toSorted();
    const ours = journal
      .filter(({ causeId }) => causeId === attempt.id)
      .map(movementText)
      .toSorted();
    if (theirs.join() === ours.join()) return [];
    // What nobody has read may be missing here; what is here must be there all the same.
    if (unsettled.has(attempt.subjectId) && ours.every((line) => theirs.includes(line))) return [];
    return [
      `attempt ${attempt.number} of ${attempt.subjectId} (${attempt.reference ?? attempt.serviceId ?? 'unnamed'}, ${attempt.state}):\n` +
        `    the service: ${theirs.join(', ') || 'nothing'}\n    our journal: ${ours.join(', ') || 'nothing'}`,
    ];
  });
  return [...orphans, ...unequal];
}

/** What was bought and not failed is in the hands of its one order. */
function goods({ work, attempts, esims, sold }: Books): string[] {
  return work
    .filter(({ kind }) => kind === 'order')
    .flatMap((order) => {
      const references = new Set(
        attempts.filter(({ subjectId }) => subjectId === order.id).map(({ reference }) => reference),
      );
      const bought = sold.filter((each) => references.has(each.external_order_id) && each.status !== 'failed');
      const problems: string[] = [];
      if (bought.length > 1)
        problems.push(`order ${order.id} was bought ${bought.length} times: ${bought.map(({ id }) => id).join(', ')}`);
      if (order.status === 'completed') {
        const delivered = esims.find(({ orderId }) => orderId === order.id)?.serviceEsimId;
        if (delivered === undefined || !bought.some(({ esim_id: esimId }) => esimId === delivered)) {
          problems.push(
            `order ${order.id} is completed with eSIM ${delivered ?? 'none'}, which the service did not sell for it`,
          );
        }
      } else if (bought.length > 0 && order.status !== 'needs_attention') {
        problems.push(
          `order ${order.id} is ${order.status}, but the service sold ${bought.map(({ id }) => id).join(', ')} for it`,
        );
      }
      return problems;
    });
}

/** The service does not send a webhook again after a 2xx: it must be stored and processed. */
function lostWebhooks(
  { inbox, webhooks }: Books,
  { mayBeLost = () => false }: Pick<BooksOptions, 'mayBeLost'>,
): string[] {
  const stored = new Set(inbox.map(({ deliveryId }) => deliveryId));
  const lost = webhooks
    .filter(({ status, id, tampering }) => status === 'delivered' && !stored.has(tampering?.delivery_id ?? id))
    // What such a delivery said is found by asking.
    .filter(({ attempts: tries }) => !tries.some(({ sent_at: sentAt }) => mayBeLost(Date.parse(sentAt))))
    .map(
      ({ id, event, order_id: orderId }) =>
        `webhook ${id} (${event} of ${orderId ?? 'nothing'}) was acknowledged and is not stored`,
    );
  const unmatched = inbox
    .filter(({ state, subjectId, decision }) => state === 'applied' && (subjectId === null || decision === null))
    .map(({ id, event }) => `inbox row ${id} (${event ?? 'no event'}) is applied, but to nothing`);
  return [...lost, ...unmatched];
}

function movementText(movement: LedgerLine | JournalRow): string {
  const type = 'type' in movement ? movement.type : movement.direction;
  return `${type} ${new Big(movement.amount).toFixed()} ${movement.currency}`;
}
