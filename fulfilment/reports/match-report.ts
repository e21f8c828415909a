import { and, desc, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, topups } from '#db/schema.ts';
import { currentOf, ofWork } from '#db/work/attempts.ts';
import {
  startOf,
  PRODUCT_COLUMNS,
  vpnSubscriptionRow,
  workTable,
  type AttemptRow,
  type StoredStart,
  type WorkRow,
} from '#db/work/rows.ts';
import { cancellationOutcome, isCancelled, judgeRefund, mergeReports } from '#domain/cancellation/refund.ts';
import { judgeSubscriptionEnd, type ObservationDecision, type PurchaseEvent } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { knownReports } from '#fulfilment/work/cancellation.ts';
import { newEndOf } from '#fulfilment/work/subscription.ts';

export interface InboxMatch {
  readonly attempt: AttemptRow;
  readonly work: WorkRef;
  /** Locked, like its attempts. */
  readonly row: WorkRow;
  /** Null for a kind that orders nothing. */
  readonly orderedProduct: number | null;
  readonly start: StoredStart | null;
  readonly isCurrent: boolean;
}

type Found = Pick<AttemptRow, 'id' | 'subjectId'>;

const FOUND = { id: attempts.id, subjectId: attempts.subjectId };

/**
 * By the service's id, else our reference, else, for kinds without one, the eSIM, of which only one attempt may be
 * under way. Locks the work, then its attempts.
 */
export async function lockMatch(tx: Executor, event: PurchaseEvent, receivedAt: Date): Promise<InboxMatch | undefined> {
  const { kind } = event;
  const found = (await findByName(tx, event)) ?? (await findByEsim(tx, event, receivedAt));
  if (found === undefined) return undefined;
  const work = { kind, id: found.subjectId };
  const table = workTable(kind);
  const [locked] = await tx
    .select({
      row: table,
      orderedProduct: sql<number | null>`${PRODUCT_COLUMNS[kind] ?? sql`null`}`,
      start: startOf(kind, sql`${work.id}`),
    })
    .from(table)
    .where(eq(table.id, work.id))
    .for('update');
  const all = await tx.select().from(attempts).where(ofWork(work)).orderBy(desc(attempts.number)).for('update');
  const attempt = all.find(({ id }) => id === found.id);
  if (locked === undefined || attempt === undefined) return undefined;
  return { ...locked, work, attempt, isCurrent: currentOf(all)?.id === attempt.id };
}

async function findByName(db: Executor, { kind, serviceId, reference }: PurchaseEvent): Promise<Found | undefined> {
  if (!serviceId && !reference) return undefined;
  const { rows } = await db.execute<{ id: string; subject_id: string }>(sql`
    select id, subject_id from (
      select 1 as choice, id, subject_id from attempts
      where subject_kind = ${kind} and service_id = ${serviceId || null}
      union all
      select 2, id, subject_id from attempts
      where subject_kind = ${kind} and reference = ${reference || null}
    ) as named order by choice limit 1`);
  const [found] = rows;
  return found && { id: found.id, subjectId: found.subject_id };
}

async function findByEsim(db: Executor, event: PurchaseEvent, receivedAt: Date): Promise<Found | undefined> {
  const { kind, serviceEsimId } = event;
  if (serviceEsimId === undefined) return undefined;
  if (kind === 'cancellation') return findNewestCancellation(db, serviceEsimId, event, receivedAt);
  return kind === 'topup' ? findUnsettledTopup(db, serviceEsimId, event) : undefined;
}

/** Between a worker and PostgreSQL. */
const CLOCKS_DIFFER_MS = 10_000;

/** Only one can be under way. */
async function findNewestCancellation(
  db: Executor,
  serviceEsimId: string,
  { cancellation }: PurchaseEvent,
  receivedAt: Date,
): Promise<Found | undefined> {
  // The failure of a refund may be about an earlier one; it can be ours only if ours was sent before.
  const isOfSent = cancellation?.esim === undefined && cancellation?.refund?.state === 'failed';
  const [found] = await db
    .select(FOUND)
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, 'cancellation'),
        eq(attempts.serviceEsimId, serviceEsimId),
        isOfSent ? lte(attempts.firstSentAt, new Date(receivedAt.getTime() + CLOCKS_DIFFER_MS)) : undefined,
      ),
    )
    .orderBy(desc(attempts.createdAt), desc(attempts.number))
    .limit(1);
  return found;
}

/**
 * A failure is never matched this way: somebody may have tried the same top-up by hand, and after that failure we
 * would buy a second time. Our top-up is then looked up by its id, or a person decides.
 */
async function findUnsettledTopup(
  db: Executor,
  serviceEsimId: string,
  { productId, outcome }: PurchaseEvent,
): Promise<Found | undefined> {
  if (outcome === 'failed') return undefined;
  const [found] = await db
    .select(FOUND)
    .from(attempts)
    .innerJoin(topups, eq(topups.id, attempts.subjectId))
    .where(
      and(
        eq(attempts.subjectKind, 'topup'),
        eq(attempts.serviceEsimId, serviceEsimId),
        isNotNull(attempts.busyEsimId),
        isNull(attempts.serviceId),
        productId === undefined ? undefined : eq(topups.packageId, productId),
      ),
    );
  return found;
}

interface ReportInContext {
  /** With the outcome that it has together with earlier ones. */
  readonly event: PurchaseEvent;
  readonly followUp: ObservationDecision;
  /** It names something that is not stored yet. */
  readonly isNew: boolean;
}

export async function inContext(tx: Executor, match: InboxMatch, event: PurchaseEvent): Promise<ReportInContext> {
  switch (match.work.kind) {
    case 'vpn_subscription':
      return subscriptionInContext(match, event);
    case 'cancellation':
      return cancellationInContext(tx, match, event);
    case 'order':
    case 'topup':
      return { event, followUp: namesNewEsim(match, event) ? 'advance' : 'known', isNew: namesMore(match, event) };
  }
}

function subscriptionInContext(match: InboxMatch, event: PurchaseEvent): ReportInContext {
  const known = vpnSubscriptionRow(match.row);
  // An event may be late: it fills what is missing, and replaces only an earlier end of the paid period.
  const isRenewal = newEndOf(known, event) !== undefined;
  const missing = {
    access: known.encryptedAccess === null ? event.access : undefined,
    startedAt: known.startedAt === null ? event.startedAt : undefined,
    expiresAt: known.expiresAt === null || isRenewal ? event.expiresAt : undefined,
  };
  const fills = Object.values(missing).some((each) => each !== undefined);
  const followUp = fills ? 'advance' : judgeSubscriptionEnd(known.endedAs ?? undefined, event.endedAs);
  return { event: { ...event, ...missing }, followUp, isNew: fills || namesMore(match, event) };
}

async function cancellationInContext(tx: Executor, match: InboxMatch, event: PurchaseEvent): Promise<ReportInContext> {
  const isNew = namesMore(match, event);
  const { cancellation } = event;
  if (cancellation === undefined) return { event, followUp: 'known', isNew };
  const { status } = match.row;
  const known = await knownReports(tx, match.work.id);
  const isCancelledNow = isCancelled(cancellation) && known.esim !== 'cancelled';
  // It ended with the eSIM not cancelled.
  const isDenied = isCancelledNow && (status === 'refused' || status === 'abandoned');
  const refund = isDenied ? 'contradiction' : judgeRefund(known.refund, cancellation.refund);
  return {
    event: { ...event, outcome: cancellationOutcome(mergeReports(known, cancellation)) },
    followUp: refund === 'known' && isCancelledNow ? 'advance' : refund,
    isNew,
  };
}

/** More about it may come in any order. */
export function isBought({ attempt: { state, subjectKind } }: InboxMatch): boolean {
  return subjectKind !== 'cancellation' && (state === 'processing' || state === 'completed');
}

/** The workflow of the order waits for that name. */
function namesNewEsim(match: InboxMatch, { serviceEsimId }: PurchaseEvent): boolean {
  return isBought(match) && match.attempt.serviceEsimId === null && serviceEsimId !== undefined;
}

function namesMore(match: InboxMatch, event: PurchaseEvent): boolean {
  const { serviceId, chargedAmount } = match.attempt;
  return (
    namesNewEsim(match, event) ||
    (serviceId === null && event.serviceId !== undefined) ||
    (chargedAmount === null && event.charged !== undefined)
  );
}
