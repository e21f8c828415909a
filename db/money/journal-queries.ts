import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { bookEntries } from '#db/money/journal.ts';
import { lockBooks } from '#db/money/reconciliations.ts';
import type { WalletMovementRow } from '#db/money/wallet-movements.ts';
import { attempts, esims, journal, topups, walletMovements } from '#db/schema.ts';
import type { CauseKind, Direction } from '#domain/money/books.ts';
import { plainAmount } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

type JournalRow = typeof journal.$inferSelect;

/** A row of the journal, with the movement that the service has shown for it, or a movement without a row. */
export type WalletLine = { readonly work: WorkRef | undefined } & (
  | { readonly entry: JournalRow; readonly movement: WalletMovementRow | undefined }
  | { readonly entry: undefined; readonly movement: WalletMovementRow }
);

interface WalletFilter {
  readonly direction?: Direction | undefined;
  readonly orderId?: string | undefined;
  readonly esimId?: string | undefined;
  /** Both exclusive, by the time of recording. */
  readonly after?: Date | undefined;
  readonly before?: Date | undefined;
}

interface JournalFilter extends WalletFilter {
  readonly cause?: CauseKind | undefined;
}

/** Each selects kind and id of work. */
function worksOf({ orderId, esimId }: WalletFilter): SQL[] {
  return [
    ...(orderId === undefined ? [] : [sql`select 'order'::text, ${orderId}::text`]),
    ...(esimId === undefined
      ? []
      : [
          sql`select 'order'::text, ${esims.orderId} from ${esims} where ${esims.id} = ${esimId}
            union all select 'topup'::text, ${topups.id} from ${topups} where ${topups.esimId} = ${esimId}`,
        ]),
  ];
}

function isForOneOf(works: SQL): SQL {
  return sql`(${journal.causeKind}, ${journal.causeId}) in (
    with works (kind, id) as (${works}),
    tried (id) as (select a.id from ${attempts} a join works on works.kind = a.subject_kind and works.id = a.subject_id)
    select 'attempt', id from tried
    union all select 'refund', id from works
    union all select 'adjustment', m.service_id from ${walletMovements} m join tried on tried.id = m.attempt_id)`;
}

function namesOneOf(works: SQL): SQL {
  const { orderId, orderReference, topupId, esimId } = walletMovements;
  return sql`exists (
    with works (kind, id) as (${works})
    select 1 from ${attempts} a join works on works.kind = a.subject_kind and works.id = a.subject_id
    where works.kind = 'order' and (a.service_id = ${orderId} or a.reference = ${orderReference}
      or a.service_esim_id = ${esimId})
      or works.kind = 'topup' and a.service_id = ${topupId})`;
}

/** Credits have an index of their own, which a parameter would not select. */
function isOfDirection(direction: Direction): SQL {
  return direction === 'credit' ? sql`${journal.direction} = 'credit'` : eq(journal.direction, direction);
}

/** So that a page does not read all newer rows. Ids follow times, but for transactions at once; none takes an hour. */
function idBefore(before: Date): SQL {
  return sql`coalesce((select later.id from ${journal} as later
    where later.recorded_at > ${before}::timestamptz + interval '1 hour' order by later.recorded_at limit 1),
    9223372036854775807)`;
}

export function journalPage(db: Executor, filter: JournalFilter, page: PageOptions<bigint>) {
  const { direction, after, before, cause } = filter;
  return db
    .select()
    .from(journal)
    .where(
      and(
        ...worksOf(filter).map(isForOneOf),
        page.after === undefined ? undefined : lt(journal.id, page.after),
        matches(journal.causeKind, cause),
        direction === undefined ? undefined : isOfDirection(direction),
        after === undefined ? undefined : gt(journal.recordedAt, after),
        ...(before === undefined ? [] : [lt(journal.recordedAt, before), lt(journal.id, idBefore(before))]),
      ),
    )
    .orderBy(desc(journal.id))
    .limit(page.limit);
}

export async function listJournal(
  db: Executor,
  filter: JournalFilter,
  page: PageOptions<bigint>,
): Promise<WalletLine[]> {
  const rows = await journalPage(db, filter, page);
  if (rows.length === 0) return [];
  const ids = rows.map(({ causeId }) => causeId);
  const movements = await db
    .select()
    .from(walletMovements)
    // An adjustment has the id of its movement.
    .where(
      or(
        and(isNotNull(walletMovements.causeKind), inArray(walletMovements.causeId, ids)),
        inArray(walletMovements.serviceId, ids),
      ),
    );
  const attemptIds = [...ids, ...movements.flatMap(({ attemptId }) => attemptId ?? [])];
  const works = await db
    .select({ attemptId: attempts.id, kind: attempts.subjectKind, id: attempts.subjectId })
    .from(attempts)
    .where(inArray(attempts.id, attemptIds));
  return rows.map((entry): WalletLine => {
    const movement = movements.find((each) => isOf(each, entry)) ?? movements.find((each) => isAbout(each, entry));
    const work = works.find(
      ({ attemptId }) => attemptId === (entry.causeKind === 'attempt' ? entry.causeId : movement?.attemptId),
    );
    return { entry, movement, work: work && { kind: work.kind, id: work.id } };
  });
}

function isOf({ causeKind, causeId, direction }: WalletMovementRow, entry: JournalRow): boolean {
  return causeKind === entry.causeKind && causeId === entry.causeId && direction === entry.direction;
}

function isAbout({ serviceId }: WalletMovementRow, { causeKind, causeId }: JournalRow): boolean {
  return causeKind === 'adjustment' && serviceId === causeId;
}

export async function listMovementsWithoutCause(
  db: Executor,
  filter: WalletFilter,
  page: PageOptions<bigint>,
): Promise<WalletLine[]> {
  const { direction, after, before } = filter;
  const rows = await db
    .select()
    .from(walletMovements)
    .where(
      and(
        isNull(walletMovements.causeKind),
        ...worksOf(filter).map(namesOneOf),
        page.after === undefined ? undefined : lt(walletMovements.id, page.after),
        matches(walletMovements.direction, direction),
        after === undefined ? undefined : gt(walletMovements.readAt, after),
        before === undefined ? undefined : lt(walletMovements.readAt, before),
      ),
    )
    .orderBy(desc(walletMovements.id))
    .limit(page.limit);
  return rows.map((movement) => ({ entry: undefined, movement, work: undefined }));
}

/** An operator has explained the movement. One with a cause is not changed. Undefined when it does not exist. */
export async function bookAsAdjustment(
  tx: Executor,
  id: bigint,
): Promise<{ movement: WalletMovementRow; isNew: boolean } | undefined> {
  await lockBooks(tx);
  const [known] = await tx.select().from(walletMovements).where(eq(walletMovements.id, id));
  if (known === undefined || known.causeKind !== null) return known && { movement: known, isNew: false };
  const cause = { kind: 'adjustment', id: known.serviceId } as const;
  const { direction, amount, currency } = known;
  await bookEntries(tx, [{ direction, money: { amount: plainAmount(amount), currency }, cause }]);
  const [movement] = await tx
    .update(walletMovements)
    .set({ causeKind: cause.kind, causeId: cause.id })
    .where(eq(walletMovements.id, id))
    .returning();
  return movement && { movement, isNew: true };
}
