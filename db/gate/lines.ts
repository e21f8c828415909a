/** Queries of the drift stops: the line of each kind of purchase, and its drifted purchases. */
import { and, asc, eq, isNotNull, isNull, ne, notInArray, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, gateDrifts, gateLines, gateReservations, gateWaits } from '#db/schema.ts';
import { storedKind, workTable } from '#db/work/rows.ts';
import type { Line } from '#domain/gate/drift.ts';
import type { Barrier } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';

export type LineRow = typeof gateLines.$inferSelect;

/** The condition that a drift stop is in force, or drifted purchases are not settled. */
export const LINES_IN_USE = sql`(exists (select from ${gateLines} where ${gateLines.state} <> 'open')
  or exists (select from ${gateDrifts} where ${gateDrifts.settledAt} is null))`;

/** The line of a row in terms of the domain. */
export function lineOfRow({ state, drifts, stoppedProducts, stoppedAt, canaries, isStarted }: LineRow): Line {
  return { state, drifts, stoppedProducts, stoppedAt: stoppedAt?.getTime() ?? null, canaries, isStarted };
}

/** The lines that are not open. */
export async function stoppedLines(db: Executor): Promise<LineRow[]> {
  return db.select().from(gateLines).where(ne(gateLines.state, 'open')).orderBy(asc(gateLines.kind));
}

/** The line of a kind; undefined when it was never stopped. */
export async function findLine(db: Executor, kind: PurchaseKind): Promise<LineRow | undefined> {
  const [row] = await db.select().from(gateLines).where(eq(gateLines.kind, kind));
  return row;
}

/** Locks the line of a kind, and creates it if it has no row. */
export async function lockLine(tx: Executor, kind: PurchaseKind): Promise<LineRow> {
  await tx.insert(gateLines).values({ kind }).onConflictDoNothing();
  const [row] = await tx.select().from(gateLines).where(eq(gateLines.kind, kind)).for('update');
  if (row === undefined) throw new Error(`the line of ${kind} cannot be read back`);
  return row;
}

/** Stores a changed line. @param row as it was locked. */
export async function storeLine(
  tx: Executor,
  row: LineRow,
  line: Line,
  now: number,
  further: Partial<Pick<LineRow, 'detail' | 'longestFillMs'>> = {},
): Promise<void> {
  const isOpen = line.state === 'open';
  await tx
    .update(gateLines)
    .set({
      ...line,
      stoppedAt: line.stoppedAt === null ? null : new Date(line.stoppedAt),
      since: isOpen ? null : (row.since ?? new Date(now)),
      ...(isOpen && { detail: null }),
      ...further,
    })
    .where(eq(gateLines.kind, row.kind));
}

/** A purchase that waits at the line of its kind. */
export interface WaitingAtLine {
  readonly id: string;
  readonly product: number;
}

/** Purchases that wait at the line of a kind: the oldest of those that were the canary least often first. */
export async function waitingAtLine(
  tx: Executor,
  kind: PurchaseKind,
  { limit, except = [] }: { readonly limit: number; readonly except?: readonly number[] },
): Promise<WaitingAtLine[]> {
  const product = productColumn(kind);
  return tx
    .select({ id: gateWaits.subjectId, product })
    .from(gateWaits)
    .innerJoin(workTable(kind), eq(workTable(kind).id, gateWaits.subjectId))
    .where(
      and(
        eq(gateWaits.subjectKind, kind),
        eq(gateWaits.barrier, `drift:${kind}` satisfies Barrier),
        except.length === 0 ? undefined : notInArray(product, [...except]),
      ),
    )
    .orderBy(asc(gateWaits.probes), asc(gateWaits.acceptedAt))
    .limit(limit);
}

/** The condition on `gate_waits` that the waiting purchase is of none of these products. */
export function isOfOtherProduct(kind: PurchaseKind, products: readonly number[]): SQL {
  if (products.length === 0) return sql`true`;
  const list = sql.join(
    products.map((one) => sql`${one}`),
    sql`, `,
  );
  return sql`exists (select from ${workTable(kind)} where ${workTable(kind).id} = ${gateWaits.subjectId}
    and ${productColumn(kind)} not in (${list}))`;
}

/** The package or plan of a kind of purchase. */
export function productColumn(kind: PurchaseKind): SQL<number> {
  const { product } = storedKind(kind);
  if (product === undefined) throw new Error(`${kind} orders no product`);
  return sql<number>`${product.column}`;
}

/** Drifted purchases of a kind that are neither whole nor judged, with the money that they cost. */
export interface Parked {
  readonly kind: PurchaseKind;
  readonly product: number;
  readonly count: number;
  readonly since: Date;
  /** The sums of what was charged, or reserved where no charge is known; by currency. */
  readonly cost: readonly Money[];
}

/** The parked purchases of all kinds, by product. */
export async function parkedPurchases(db: Executor): Promise<Parked[]> {
  const currency = sql<string | null>`coalesce(${attempts.chargedCurrency}, ${gateReservations.currency})`;
  const rows = await db
    .select({
      kind: gateDrifts.subjectKind,
      product: gateDrifts.product,
      currency,
      count: sql<number>`count(*)::int`,
      since: sql<string>`min(${gateDrifts.driftedAt})`,
      amount: sql<string | null>`sum(coalesce(${attempts.chargedAmount}, ${gateReservations.amount}))::text`,
    })
    .from(gateDrifts)
    .leftJoin(attempts, eq(attempts.id, gateDrifts.attemptId))
    .leftJoin(gateReservations, eq(gateReservations.attemptId, gateDrifts.attemptId))
    .where(and(isNull(gateDrifts.settledAt), isNotNull(gateDrifts.driftedAt)))
    .groupBy(gateDrifts.subjectKind, gateDrifts.product, currency)
    .orderBy(asc(gateDrifts.subjectKind), asc(gateDrifts.product));
  return [...Map.groupBy(rows, ({ kind, product }) => `${kind} ${product}`).values()].flatMap((parts) => {
    const [first] = parts;
    if (first === undefined) return [];
    return {
      kind: first.kind,
      product: first.product,
      count: parts.reduce((sum, { count }) => sum + count, 0),
      since: new Date(Math.min(...parts.map(({ since }) => Date.parse(since)))),
      cost: parts.flatMap(({ amount, currency: unit }) =>
        amount === null || unit === null ? [] : [{ amount, currency: unit }],
      ),
    };
  });
}
