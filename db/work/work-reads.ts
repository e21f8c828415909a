import { and, asc, count, eq, gt, inArray, notInArray, sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn, PgSelect } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { prepared, shapeOf, UNNAMED } from '#db/connection/prepared-statements.ts';
import { type Owner, ownWork } from '#db/lists/ownership.ts';
import {
  type PageOptions,
  type TimeFilter,
  following,
  hasPairs,
  matches,
  oneOf,
  newest,
  pageOfStatuses,
  withinTimes,
} from '#db/lists/pages.ts';
import { attempts, timeline } from '#db/schema.ts';
import { ofWork } from '#db/work/attempts.ts';
import { isInDoubt } from '#db/work/cases.ts';
import { type WorkRow, workTable, REFERENCE_COLUMNS } from '#db/work/rows.ts';
import type { OperatedAttempt } from '#domain/operator/operator-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import { FINAL_STATUSES, type WorkStatus } from '#domain/work/lifecycle.ts';

export interface WorkFilter extends TimeFilter {
  readonly statuses?: readonly WorkStatus[] | undefined;
  readonly failureClass?: FailureClass | undefined;
  readonly attentionReason?: AttentionReason | undefined;
  /** Lineage of an API key. */
  readonly createdBy?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface Successor {
  readonly id: string;
  readonly apiKeyId: string;
}

export interface AttemptSummary {
  readonly attempts: number;
  readonly serviceId: string | null;
  readonly attemptStates: readonly OperatedAttempt[];
  /** As {@link isInDoubt}. */
  readonly inDoubt: boolean;
  readonly replacedBy: Successor | null;
}

export const NO_ATTEMPTS: AttemptSummary = {
  attempts: 0,
  serviceId: null,
  attemptStates: [],
  inDoubt: false,
  replacedBy: null,
};

function workConditions(kind: WorkKind, owner: Owner, filter: WorkFilter): SQL | undefined {
  const table = workTable<WorkKind>(kind);
  return and(
    ownWork(kind, owner),
    filter.statuses && inArray(table.status, filter.statuses),
    matches(table.failureClass, filter.failureClass),
    matches(table.attentionReason, filter.attentionReason),
    matches(table.apiKeyId, filter.createdBy),
    filter.ids && oneOf(table.id, filter.ids),
    filter.metadata && hasPairs(table.metadata, filter.metadata),
    ...withinTimes(table, filter),
  );
}

/** @param select all work of the kind. */
export async function findOwn<Query extends PgSelect>(
  db: Executor,
  kind: WorkKind,
  select: (on: Executor) => Query,
  id: string,
  owner: Owner,
): Promise<Query['_']['result'][number] | undefined> {
  const table = workTable(kind);
  const isOwn = ownWork(kind, owner === undefined ? undefined : sql.placeholder('owner'));
  const statement = prepared(db, `${owner === undefined ? 'any' : 'own'} ${kind}`, (on, name) =>
    select(on)
      .where(and(eq(table.id, sql.placeholder('id')), isOwn))
      .prepare(name),
  );
  return (await statement.execute({ id, owner }))[0];
}

/**
 * Not prepared by PostgreSQL, which plans a page for the values of its filters.
 * @param select all work of the kind. @param own exact values of columns that only this kind has.
 */
export async function workPage<Query extends PgSelect>(
  db: Executor,
  kind: WorkKind,
  select: (on: Executor) => Query,
  owner: Owner,
  { statuses, ...filter }: WorkFilter,
  { after, limit }: PageOptions,
  own: readonly (readonly [AnyPgColumn, unknown])[],
  more?: SQL,
): Promise<Query['_']['result']> {
  const table = workTable(kind);
  const { createdAt, id } = table;
  const others = and(
    workConditions(kind, owner, filter),
    following(createdAt, id, after),
    ...own.map(([column, value]) => matches(column, value)),
    more,
  );
  const { text, condition, values } = shapeOf(pageOfStatuses(table, statuses, others, limit));
  const statement = prepared(db, `page of ${kind}: ${text}`, (on) =>
    select(on).where(condition).orderBy(newest(createdAt, id)).limit(sql.placeholder('limit')).prepare(UNNAMED),
  );
  return statement.execute({ ...values, limit });
}

export function attemptSummary(db: Executor, kind: WorkKind) {
  return db
    .select({
      attempts: sql<number>`count(*)::int`.as('attempts'),
      serviceId: sql<string | null>`(array_agg(${attempts.serviceId} order by ${attempts.number} desc)
          filter (where ${attempts.serviceId} is not null))[1]`.as('latest_service_id'),
      attemptStates: sql<
        OperatedAttempt[]
      >`coalesce(jsonb_agg(jsonb_build_object('state', ${attempts.state}, 'settled', ${attempts.settled})), '[]')`.as(
        'attempt_states',
      ),
      // A single-table selection would write columns without their table.
      inDoubt: isInDoubt(db, { kind, id: workTable(kind).id }).as('in_doubt'),
      replacedBy: successorOf(kind).as('replaced_by'),
    })
    .from(attempts)
    .where(ofWork({ kind, id: workTable(kind).id }))
    .as('facts');
}

function successorOf(kind: WorkKind): SQL<Successor | null> {
  if (REFERENCE_COLUMNS[kind] === undefined) return sql`null`;
  const table = workTable(kind);
  // A single-table selection would write columns without their table.
  return sql`(select jsonb_build_object('id', next.id, 'apiKeyId', next.api_key_id) from ${table} as next
    where next.replaces_id = ${table}.${sql.identifier('id')})`;
}

export function summaryColumns({
  attempts: made,
  serviceId,
  attemptStates,
  inDoubt,
  replacedBy,
}: ReturnType<typeof attemptSummary>) {
  return { attempts: made, serviceId, attemptStates, inDoubt, replacedBy };
}

type TimelineRow = Pick<typeof timeline.$inferSelect, 'id' | 'at' | 'event' | 'message' | 'detail'>;

export async function listTimeline(db: Executor, work: WorkRef, options: PageOptions<bigint>): Promise<TimelineRow[]> {
  const { id, at, event, message, detail } = timeline;
  return db
    .select({ id, at, event, message, detail })
    .from(timeline)
    .where(
      and(
        eq(timeline.subjectKind, work.kind),
        eq(timeline.subjectId, work.id),
        options.after === undefined ? undefined : gt(timeline.id, options.after),
      ),
    )
    .orderBy(asc(timeline.id))
    .limit(options.limit);
}

/** The oldest work of the choice; work that has ended only where the choice asks for it. */
export async function chooseWork(db: Executor, kind: WorkKind, owner: Owner, choice: WorkFilter, limit: number) {
  const table = workTable(kind);
  // Ended work would be selected on every call, and work that can be changed would never be reached.
  const goesOn = choice.ids === undefined && choice.statuses === undefined && choice.attentionReason === undefined;
  const where = and(
    workConditions(kind, owner, choice),
    goesOn ? notInArray(table.status, [...FINAL_STATUSES]) : undefined,
  );
  const [total] = await db.select({ matched: count() }).from(table).where(where);
  const chosen = await db
    .select({
      id: table.id,
      status: table.status,
      failureClass: table.failureClass,
      attentionReason: table.attentionReason,
    })
    .from(table)
    .where(where)
    .orderBy(asc(table.createdAt), asc(table.id))
    .limit(limit);
  return { matched: total?.matched ?? 0, chosen };
}

export async function workExists(db: Executor, { kind, id }: WorkRef, owner: Owner): Promise<boolean> {
  const table = workTable(kind);
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.id, id), ownWork(kind, owner)));
  return rows.length > 0;
}

export interface StoredWork<Row = WorkRow> extends AttemptSummary {
  readonly row: Row;
}

export interface WorkReads<Stored, Filter> {
  find(db: Executor, id: string, owner: Owner): Promise<Stored | undefined>;
  page(db: Executor, owner: Owner, filter: Filter, page: PageOptions): Promise<Stored[]>;
}
