import { and, asc, desc, eq, gt, gte, inArray, isNull, notExists, or, sql, type SQL } from 'drizzle-orm';
import { inBatches } from '#db/connection/batches.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts, journal, vpnSubscriptions, walletMovements } from '#db/schema.ts';
import { MOVEMENT_NAMES, workTable } from '#db/work/rows.ts';
import type { Cause, Direction, Movement, MovementNames, Purchase } from '#domain/money/books.ts';
import { plainAmount, plainMoney, type Money } from '#domain/money/money.ts';
import type { Placed } from '#domain/money/reconciliation.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

export type WalletMovementRow = typeof walletMovements.$inferSelect;

export interface ReadMovement extends Movement {
  readonly refundId: string | null;
}

/** A stored movement keeps its first reading. @returns the service's ids of the new ones. */
export async function storeMovements(
  tx: Executor,
  movements: readonly ReadMovement[],
  now: Date,
  reading: number,
): Promise<string[]> {
  const stored: string[] = [];
  for (const part of inBatches(movements)) {
    const rows = await tx
      .insert(walletMovements)
      .values(
        part.map(({ id, direction, money, reason, occurredAt, names, refundId }) => ({
          serviceId: id,
          direction,
          amount: money.amount,
          currency: money.currency,
          reason,
          occurredAt: new Date(occurredAt),
          readAt: now,
          ...names,
          refundId,
          firstReading: reading,
        })),
      )
      .onConflictDoNothing({ target: walletMovements.serviceId })
      .returning({ id: walletMovements.serviceId });
    stored.push(...rows.map(({ id }) => id));
  }
  return stored;
}

export async function countReadSince(db: Executor, after: Date | undefined): Promise<number> {
  return db.$count(walletMovements, after === undefined ? undefined : gt(walletMovements.readAt, after));
}

/**
 * Movements that no purchase explains stay for ever: read from the oldest only, they would hide all later ones.
 * @param limit of each of oldest and newest. @returns `isWhole`: these are all.
 */
export async function movementsWithoutCause(
  db: Executor,
  limit: number,
): Promise<{ readonly movements: readonly Movement[]; readonly isWhole: boolean }> {
  const read = (direction: typeof asc) =>
    db
      .select()
      .from(walletMovements)
      .where(isNull(walletMovements.causeKind))
      .orderBy(direction(walletMovements.occurredAt), direction(walletMovements.id))
      .limit(limit);
  const oldest = await read(asc);
  const newest = oldest.length < limit ? [] : await read(desc);
  const rows = new Map([...oldest, ...newest].map((row) => [row.id, row]));
  // Both readings have a row in common, or one alone has all.
  const isWhole = rows.size < oldest.length + newest.length || newest.length === 0;
  return { movements: [...rows.values()].map(movementOf), isWhole };
}

/** The service's corrections, and what operators explained. */
export interface Adjustments extends Money {
  readonly direction: Movement['direction'];
  readonly count: number;
}

export async function adjustmentsSince(db: Executor, since: Date): Promise<Adjustments[]> {
  const { direction, currency, amount, causeKind, occurredAt } = walletMovements;
  const rows = await db
    .select({ direction, currency, amount: sql<string>`sum(${amount})`, count: sql<number>`count(*)::int` })
    .from(walletMovements)
    .where(and(eq(causeKind, 'adjustment'), gte(occurredAt, since)))
    .groupBy(currency, direction)
    .orderBy(asc(currency), asc(direction));
  return rows.map((row) => ({ ...row, amount: plainAmount(row.amount) }));
}

export async function placedMovements(db: Executor, attemptIds: readonly string[]): Promise<Placed[]> {
  const placed: Placed[] = [];
  for (const part of inBatches(attemptIds)) {
    const rows = await db.select().from(walletMovements).where(inArray(walletMovements.attemptId, part));
    for (const row of rows) {
      if (row.causeKind === null || row.causeId === null) continue;
      placed.push({
        movement: movementOf(row),
        cause: { kind: row.causeKind, id: row.causeId },
        attemptId: row.attemptId,
      });
    }
  }
  return placed;
}

export async function placeMovements(tx: Executor, places: readonly Placed[]): Promise<void> {
  for (const part of inBatches(places)) {
    const values = part.map(
      ({ movement, cause, attemptId }) =>
        sql`(${movement.id}::text, ${cause.kind}::text, ${cause.id}::text, ${attemptId}::text)`,
    );
    await tx.execute(sql`
      update ${walletMovements} as m set cause_kind = v.kind, cause_id = v.id, attempt_id = v.attempt
      from (values ${sql.join(values, sql`, `)}) as v (movement, kind, id, attempt)
      where m.service_id = v.movement and m.cause_kind is null`);
  }
}

/** As the books have matched it: at most one. */
export async function movementOfCause(db: Executor, cause: Cause, direction: Direction): Promise<Movement | undefined> {
  const { causeKind, causeId, direction: itsDirection } = walletMovements;
  const isOfCause = and(eq(causeKind, cause.kind), eq(causeId, cause.id), eq(itsDirection, direction));
  const [row] = await db.select().from(walletMovements).where(isOfCause);
  return row && movementOf(row);
}

export async function debitOfOrder(db: Executor, orderId: string): Promise<Money | undefined> {
  const [row] = await db
    .select({
      amount: sql<string | null>`coalesce(${walletMovements.amount}, ${attempts.chargedAmount})`,
      currency: sql<string | null>`coalesce(${walletMovements.currency}, ${attempts.chargedCurrency})`,
    })
    .from(attempts)
    .leftJoin(
      walletMovements,
      and(
        eq(walletMovements.causeKind, 'attempt'),
        eq(walletMovements.causeId, attempts.id),
        eq(walletMovements.direction, 'debit'),
      ),
    )
    .where(and(eq(attempts.subjectKind, 'order'), eq(attempts.subjectId, orderId), eq(attempts.state, 'completed')))
    .limit(1);
  return plainMoney(row?.amount ?? null, row?.currency ?? null) ?? undefined;
}

export async function purchasesNamedBy(db: Executor, movements: readonly Movement[]): Promise<Purchase[]> {
  const found = new Map<string, Purchase>();
  for (const part of inBatches(movements)) {
    for (const kind of WORK_KINDS) {
      const { serviceId, reference, serviceEsimId } = MOVEMENT_NAMES[kind];
      const named = [
        isNamed(attempts.serviceId, part, serviceId),
        isNamed(attempts.reference, part, reference),
        isNamed(attempts.serviceEsimId, part, serviceEsimId),
      ];
      if (named.every((each) => each === undefined)) continue;
      for (const purchase of await purchasesOf(db, kind, or(...named))) found.set(purchase.attemptId, purchase);
    }
  }
  return [...found.values()];
}

/** Failed attempts whose debit has no credit. There should be none. */
export async function purchasesKept(db: Executor): Promise<Purchase[]> {
  const booked = (direction: 'debit' | 'credit') =>
    db
      .select({ id: journal.id })
      .from(journal)
      .where(and(eq(journal.causeKind, 'attempt'), eq(journal.causeId, attempts.id), eq(journal.direction, direction)));
  const kept = and(
    inArray(attempts.state, ['failed', 'refused']),
    sql`exists ${booked('debit')}`,
    notExists(booked('credit')),
  );
  const found: Purchase[] = [];
  for (const kind of WORK_KINDS) found.push(...(await purchasesOf(db, kind, kept)));
  return found;
}

function isNamed(
  column: typeof attempts.serviceId | typeof attempts.reference | typeof attempts.serviceEsimId,
  movements: readonly Movement[],
  field: keyof MovementNames | undefined,
): SQL | undefined {
  if (field === undefined) return undefined;
  const values = [...new Set(movements.flatMap(({ names }) => names[field] ?? []))];
  return values.length === 0 ? undefined : inArray(column, values);
}

async function purchasesOf(db: Executor, kind: WorkKind, which: SQL | undefined): Promise<Purchase[]> {
  const table = workTable(kind);
  const later = db
    .select({ id: sql`later.id` })
    .from(sql`${attempts} as later`)
    .where(
      sql`later.subject_kind = ${attempts.subjectKind} and later.subject_id = ${attempts.subjectId}
        and later.number > ${attempts.number}`,
    );
  const rows = await db
    .select({
      attempt: attempts,
      status: table.status,
      updatedAt: table.updatedAt,
      expiresAt: kind === 'vpn_subscription' ? vpnSubscriptions.expiresAt : sql<null>`null`,
      isSuperseded: sql<boolean>`exists ${later}`,
    })
    .from(attempts)
    .innerJoin(table, eq(table.id, attempts.subjectId))
    .where(and(eq(attempts.subjectKind, kind), which));
  return rows.map(({ attempt, status, updatedAt, expiresAt, isSuperseded }): Purchase => ({
    attemptId: attempt.id,
    work: { kind, id: attempt.subjectId },
    reference: attempt.reference,
    serviceId: attempt.serviceId,
    serviceEsimId: attempt.serviceEsimId,
    state: attempt.state,
    isOver: attempt.settled || isSuperseded || isFinal(status),
    paidUntil: expiresAt?.getTime(),
    endedAt: endOf(status, updatedAt, expiresAt),
  }));
}

/** Epoch milliseconds. An expiry is often recorded later than it was. */
function endOf(status: WorkStatus, recordedAt: Date, expiresAt: Date | null): number | undefined {
  if (status === 'cancelled') return recordedAt.getTime();
  return status === 'expired' ? Math.min(recordedAt.getTime(), expiresAt?.getTime() ?? Infinity) : undefined;
}

export function movementOf(row: WalletMovementRow): Movement {
  const { orderId, orderReference, topupId, subscriptionId, subscriptionReference, esimId } = row;
  return {
    id: row.serviceId,
    direction: row.direction,
    money: { amount: plainAmount(row.amount), currency: row.currency },
    reason: row.reason,
    occurredAt: row.occurredAt.getTime(),
    names: { orderId, orderReference, topupId, subscriptionId, subscriptionReference, esimId },
  };
}
