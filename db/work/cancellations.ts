import { and, eq, inArray, notExists, notInArray, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { ownRefunds, type Owner } from '#db/lists/ownership.ts';
import {
  following,
  matches,
  newest,
  type PageOptions,
  pageOfStatuses,
  type TimeFilter,
  withinTimes,
} from '#db/lists/pages.ts';
import { cancellations, refunds, attempts, esims } from '#db/schema.ts';
import { ofWork } from '#db/work/attempts.ts';
import { type CancellationRow, type RefundRow, WorkMissingError } from '#db/work/rows.ts';
import {
  attemptSummary,
  findOwn,
  summaryColumns,
  type WorkFilter,
  workPage,
  type StoredWork,
} from '#db/work/work-reads.ts';
import type { RefundCondition } from '#domain/cancellation/refund-conditions.ts';
import type { RefundStatus } from '#domain/cancellation/refund.ts';

export interface StoredCancellation extends StoredWork<CancellationRow> {
  readonly refund: RefundRow | null;
}

interface CancellationFilter extends WorkFilter {
  readonly esimId?: string | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

function select(db: Executor) {
  const facts = attemptSummary(db, 'cancellation');
  return db
    .select({ row: cancellations, refund: refunds, ...summaryColumns(facts) })
    .from(cancellations)
    .leftJoin(refunds, eq(refunds.cancellationId, cancellations.id))
    .crossJoinLateral(facts)
    .$dynamic();
}

export const cancellationReads = {
  find: (db: Executor, id: string, owner: Owner): Promise<StoredCancellation | undefined> =>
    findOwn(db, 'cancellation', select, id, owner),
  page: (db: Executor, owner: Owner, filter: CancellationFilter, page: PageOptions) => {
    const own = [[cancellations.esimId, filter.esimId]] as const;
    // As an array, so that the pages of these eSIMs are read and no others.
    const ofCustomer =
      filter.customerReferenceHash &&
      sql`${cancellations.esimId} = any(array(select ${esims.id} from ${esims}
        where ${esims.customerReferenceHash} = ${filter.customerReferenceHash}))`;
    return workPage(db, 'cancellation', select, owner, filter, page, own, ofCustomer);
  },
};

interface RefundFilter extends TimeFilter {
  readonly statuses?: readonly RefundStatus[] | undefined;
  readonly esimId?: string | undefined;
}

export async function findRefundById(db: Executor, id: string, owner: Owner): Promise<RefundRow | undefined> {
  const [row] = await db
    .select()
    .from(refunds)
    .where(and(eq(refunds.id, id), ownRefunds(db, owner)));
  return row;
}

export function pageOfRefunds(db: Executor, owner: Owner, filter: RefundFilter, { limit, after }: PageOptions) {
  const inPage = and(
    ownRefunds(db, owner),
    matches(refunds.esimId, filter.esimId),
    ...withinTimes(refunds, filter),
    following(refunds.createdAt, refunds.id, after),
  );
  return db
    .select()
    .from(refunds)
    .where(pageOfStatuses(refunds, filter.statuses, inPage, limit))
    .orderBy(newest(refunds.createdAt, refunds.id))
    .limit(limit);
}

/** @throws WorkMissingError */
export async function readCancellation(db: Executor, id: string) {
  const [row] = await db
    .select({ cancellation: cancellations, esim: esims })
    .from(cancellations)
    .innerJoin(esims, eq(esims.id, cancellations.esimId))
    .where(eq(cancellations.id, id));
  if (row === undefined) throw new WorkMissingError({ kind: 'cancellation', id });
  return row;
}

/** As in the unique index `cancellations_one_of_esim`. */
export const isInForce = notInArray(cancellations.status, ['refused', 'abandoned']);

export async function findRefund(db: Executor, cancellationId: string): Promise<RefundRow | undefined> {
  const [row] = await db.select().from(refunds).where(eq(refunds.cancellationId, cancellationId));
  return row;
}

export async function findCancellationInForce(db: Executor, esimId: string): Promise<string | undefined> {
  const [row] = await db
    .select({ id: cancellations.id })
    .from(cancellations)
    .where(and(eq(cancellations.esimId, esimId), isInForce));
  return row?.id;
}

export async function isCancelledAlready(db: Executor, id: string): Promise<boolean> {
  const [row] = await db.select({ at: cancellations.cancelledAt }).from(cancellations).where(eq(cancellations.id, id));
  return row?.at != null;
}

/** Runs just before a send; not after a send that may have reached the service. */
export async function storePreflight(db: Executor, id: string, conditions: readonly RefundCondition[]): Promise<void> {
  const takenUp = db
    .select({ id: attempts.id })
    .from(attempts)
    .where(
      and(
        ofWork({ kind: 'cancellation', id }),
        inArray(attempts.state, ['sending', 'unknown', 'processing', 'completed', 'failed']),
        eq(attempts.settled, false),
      ),
    );
  await db
    .update(cancellations)
    .set({ preflight: conditions })
    .where(and(eq(cancellations.id, id), notExists(takenUp)));
}
