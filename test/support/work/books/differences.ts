/** The differences between both sides, as sentences. */
import Big from 'big.js';
import type { AttemptRow } from '#db/work/rows.ts';
import { KINDS } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { LedgerLine } from '#test/support/network/simulator-admin.ts';
import type { BooksOptions } from '#test/support/work/books/books.ts';
import { isSettled, type Books } from '#test/support/work/books/both-sides.ts';

type JournalRow = Books['journal'][number];

export function lostOrders({ work }: Books, accepted: readonly string[]): string[] {
  const known = new Set(work.map(({ id }) => id));
  return accepted.filter((id) => !known.has(id)).map((id) => `${id} was answered with 202 and is not stored`);
}

/** Work has ended, or needs attention with an open case. */
export function openEnds({ work, openCases }: Books): string[] {
  return work.flatMap(({ kind, id, status, attentionReason }) => {
    if (isSettled(status)) return [];
    if (status !== 'needs_attention') return [`${kind} ${id} has neither ended nor needs attention: ${status}`];
    const hasCase = openCases.some(({ subjectId, reason }) => subjectId === id && reason === attentionReason);
    return hasCase
      ? []
      : [`${kind} ${id} needs attention (${attentionReason ?? 'no reason'}) without an open case for that reason`];
  });
}

const BOUGHT: ReadonlySet<WorkStatus> = new Set(['completed', 'active', 'cancelled', 'expired']);

/** True if a movement at the service is for this attempt. Orders have our reference, top-ups only the service's id. */
export function isFor(
  { subjectKind, reference, serviceId }: Pick<AttemptRow, 'subjectKind' | 'reference' | 'serviceId'>,
  line: LedgerLine,
): boolean {
  if (isRefund(line)) return false;
  if (subjectKind === 'order') return line.external_order_id !== null && line.external_order_id === reference;
  if (subjectKind === 'vpn_subscription')
    return line.external_subscription_id !== null && line.external_subscription_id === reference;
  if (!KINDS[subjectKind].isPurchase) return false;
  return line.topup_id !== null && line.topup_id === serviceId;
}

/** True for the credit of a cancelled eSIM. It is booked with the cancellation. */
const isRefund = ({ refund_id: refundId }: LedgerLine) => refundId !== null;

/** All movements of a wallet are in its one currency. */
function costOf(lines: readonly LedgerLine[]): Big {
  return lines.reduce((sum, { type, amount }) => (type === 'debit' ? sum.plus(amount) : sum.minus(amount)), new Big(0));
}

/** Debits less credits. */
export function netDebits(lines: readonly Pick<LedgerLine, 'type'>[]): number {
  return lines.reduce((net, { type }) => net + (type === 'debit' ? 1 : -1), 0);
}

/** A completed refund has one credit at the service and one in our journal. Other refunds have none. */
export function refundedMoney({ refunds, journal, ledger }: Books): string[] {
  const known = new Set(refunds.map(({ serviceRefundId }) => serviceRefundId));
  // The service may cancel an eSIM by itself; the credit is then booked for its order.
  const requested = new Set(refunds.map(({ orderId }) => orderId));
  const unrequested = new Set(
    journal.filter(({ causeKind, causeId }) => causeKind === 'refund' && !requested.has(causeId)).map(movementText),
  );
  const unknown = ledger
    .filter((line) => isRefund(line) && !known.has(line.refund_id) && !unrequested.has(movementText(line)))
    .map((line) => `the service has ${movementText(line)} for refund ${line.refund_id}, which is none of ours`);
  // An order may have several refunds: one of a refused cancellation, and one of a further cancellation.
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
    return [`refunds ${names}:\n${bothSides(theirs, ours)}`];
  });
  return [...unknown, ...unequal];
}

/** Expected debits: one for completed work, at most one for work that needs attention, none otherwise. */
export function costs({ work, attempts, ledger }: Books): string[] {
  return work
    .filter(({ kind }) => KINDS[kind].isPurchase)
    .flatMap(({ kind, id, status }) => {
      const own = attempts
        .filter(({ subjectId }) => subjectId === id)
        .flatMap((each) => ledger.filter((line) => isFor(each, line)));
      const net = netDebits(own);
      const [least, most] = BOUGHT.has(status) ? [1, 1] : [0, status === 'needs_attention' ? 1 : 0];
      if (net >= least && net <= most) return [];
      const allowed = least === most ? `${most}` : `at most ${most}`;
      const list = own.map(movementText).join(', ');
      return [`${kind} ${id} (${status}) has ${net} net debits at the service, allowed is ${allowed}: ${list}`];
    });
}

interface MovementBooks extends Pick<Books, 'ledger' | 'wallet'> {
  readonly attempts: readonly Pick<
    AttemptRow,
    'id' | 'number' | 'subjectKind' | 'subjectId' | 'reference' | 'serviceId' | 'serviceEsimId' | 'state'
  >[];
  readonly journal: readonly Pick<JournalRow, 'causeKind' | 'causeId' | 'direction' | 'amount' | 'currency'>[];
}

/** Each movement at the service belongs to exactly one attempt, and our journal has the same movements. */
export function movements(
  { attempts, journal, ledger, wallet }: MovementBooks,
  { unsettled = [], listsOldest = null }: BooksOptions,
): string[] {
  const unsettledWork = new Set(unsettled);
  const listed = new Set(listsOldest === null ? wallet : wallet.slice(0, listsOldest));
  const ids = new Set(attempts.map(({ id }) => id));
  // The service's id of a top-up with unknown outcome is not known. An eSIM has at most one top-up in progress.
  const mayBeUnsettled = ({ topup_id: topup, esim_id: esim }: LedgerLine) =>
    topup !== null &&
    attempts.some(({ subjectId, serviceEsimId }) => unsettledWork.has(subjectId) && serviceEsimId === esim);
  const orphans = [
    ...ledger
      .filter((line) => !isRefund(line) && !attempts.some((attempt) => isFor(attempt, line)) && !mayBeUnsettled(line))
      .map((line) => {
        const name = line.external_order_id ?? line.topup_id ?? 'no named purchase';
        return `the service has ${movementText(line)} for ${name}, which is no attempt of ours`;
      }),
    ...journal
      // Deposits, and entries from a comparison of the books, belong to no attempt.
      .filter(({ causeKind, causeId }) => causeKind === 'attempt' && !ids.has(causeId))
      .map((row) => `our journal has ${movementText(row)} for ${row.causeId}, which is no attempt of ours`),
  ];
  const unequal = attempts.flatMap((attempt) => {
    const lines = ledger.filter((line) => isFor(attempt, line));
    const theirs = lines.map(movementText).toSorted();
    const ours = journal
      .filter(({ causeId }) => causeId === attempt.id)
      .map(movementText)
      .toSorted();
    if (theirs.join() === ours.join()) return [];
    // Unread movements may be missing in our journal. All our entries must be at the service.
    if (unsettledWork.has(attempt.subjectId) && ours.every((line) => theirs.includes(line))) return [];
    // The balance is as if neither had been, so such an attempt has provably cost nothing.
    const isHidden = lines.every((line) => !listed.has(line)) && costOf(lines).eq(0);
    if (attempt.state === 'failed' && ours.length === 0 && isHidden) return [];
    const name = attempt.reference ?? attempt.serviceId ?? 'unnamed';
    return [
      `attempt ${attempt.number} of ${attempt.subjectId} (${name}, ${attempt.state}):\n${bothSides(theirs, ours)}`,
    ];
  });
  return [...orphans, ...unequal];
}

/** Every sold eSIM is delivered to its order, and to no other. */
export function deliveries({ work, attempts, esims, sold }: Books): string[] {
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

/** The service does not repeat a webhook after a 2xx, so it must be stored and processed. */
export function lostWebhooks(
  { inbox, webhooks }: Books,
  { mayBeLost = () => false }: Pick<BooksOptions, 'mayBeLost'>,
): string[] {
  const stored = new Set(inbox.map(({ deliveryId }) => deliveryId));
  const lost = webhooks
    .filter(({ status, id, tampering }) => status === 'delivered' && !stored.has(tampering?.delivery_id ?? id))
    // A look-up replaces the content of such a delivery.
    // It was committed between the request and its answer. A frozen PostgreSQL makes that seconds.
    .filter(
      ({ attempts: tries }) =>
        !tries.some(({ sent_at: sentAt, duration_ms: durationMs }) =>
          mayBeLost(Date.parse(sentAt), Date.parse(sentAt) + (durationMs ?? 0)),
        ),
    )
    .map(
      ({ id, event, order_id: orderId }) =>
        `webhook ${id} (${event} of ${orderId ?? 'nothing'}) was acknowledged and is not stored`,
    );
  const unmatched = inbox
    .filter(({ state, subjectId, decision }) => state === 'applied' && (subjectId === null || decision === null))
    .map(({ id, event }) => `inbox row ${id} (${event ?? 'no event'}) is applied, but to nothing`);
  return [...lost, ...unmatched];
}

function bothSides(theirs: readonly string[], ours: readonly string[]): string {
  return `    the service: ${theirs.join(', ') || 'nothing'}\n    our journal: ${ours.join(', ') || 'nothing'}`;
}

function movementText(
  movement: Pick<LedgerLine, 'type' | 'amount' | 'currency'> | Pick<JournalRow, 'direction' | 'amount' | 'currency'>,
): string {
  const type = 'type' in movement ? movement.type : movement.direction;
  return `${type} ${new Big(movement.amount).toFixed()} ${movement.currency}`;
}
