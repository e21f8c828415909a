import { inArray, sql } from 'drizzle-orm';
import { expect } from 'vitest';
import * as z from 'zod';
import { attempts, journal } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { REFUND_STATUSES } from '#domain/cancellation/refund.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { mayFollow, WORK_STATUSES, type WorkStatus } from '#domain/work/lifecycle.ts';
import type { LedgerLine } from '#test/support/network/simulator-admin.ts';
import { isFor, netDebits } from '#test/support/work/books/differences.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';

export const shownWork = z.object({
  status: z.enum(WORK_STATUSES),
  max_price: z.object({ amount: z.string(), currency: z.string() }).nullable().optional(),
  operations: z.object({ attention: z.object({ reason: z.string() }).nullable() }),
  failure: z.object({ class: z.string() }).nullable(),
  /** Set in a completed order. */
  esim_id: z.string().nullable().optional(),
  charged: z.object({ amount: z.string() }).nullable().optional(),
  /** Set in a cancellation. */
  refund: z
    .object({ status: z.enum(REFUND_STATUSES), order_id: z.string(), service_refund_id: z.string().nullable() })
    .nullable()
    .optional(),
});
export type Shown = z.output<typeof shownWork>;

/** A piece of work at one moment. */
interface Seen {
  readonly id: string;
  /** A pause forbids all sends of this work. */
  readonly stopped: boolean;
  readonly shown: Shown;
}

/** Installs triggers that record every change of a status, because polling would miss some. */
export async function watchStatuses(desk: OrderDesk): Promise<void> {
  const { executor } = desk.stack.database;
  await executor.execute(sql.raw('CREATE TABLE status_steps (kind text, id text, from_status text, to_status text)'));
  await executor.execute(
    sql.raw(`CREATE FUNCTION note_status_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO status_steps VALUES (TG_ARGV[0], NEW.id, OLD.status, NEW.status); RETURN NULL; END $$`),
  );
  for (const kind of WORK_KINDS) {
    await executor.execute(
      sql.raw(`CREATE TRIGGER note_status_step AFTER UPDATE ON ${kind}s FOR EACH ROW
      WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION note_status_step('${kind}')`),
    );
  }
}

/** @param work the present state of all work. */
export async function checkInvariants(desk: OrderDesk, work: readonly Seen[]): Promise<void> {
  // The order of reads matters: work shown as paid is booked by now, and booked movements are in the wallet. The next
  // check finds later debits.
  const { database } = desk.stack;
  const ids = work.map(({ id }) => id);
  const rows = await database.run((db) => db.select().from(attempts).where(inArray(attempts.subjectId, ids)));
  const booked = await database.run((db) => db.select({ kind: journal.causeKind, id: journal.causeId }).from(journal));
  const ledger = await desk.simulator.ledger();
  const causes = new Set(booked.map(({ id }) => id));
  await everyStepIsAllowed(desk);
  for (const seen of work) {
    const own = rows.filter(({ subjectId }) => subjectId === seen.id);
    costsOnce(seen, own, ledger);
    isInTheJournal(seen, own, causes);
  }
  eachRefundIsPaidOnce(work, ledger, booked.filter(({ kind }) => kind === 'refund').length);
  await nothingIsDoneToABusyEsim(desk);
}

async function everyStepIsAllowed(desk: OrderDesk): Promise<void> {
  const { rows } = await desk.stack.database.executor.execute<{
    kind: WorkKind;
    id: string;
    from_status: WorkStatus;
    to_status: WorkStatus;
  }>(sql.raw('SELECT * FROM status_steps'));
  const forbidden = rows.filter(({ kind, from_status: from, to_status: to }) => !mayFollow(kind, from, to));
  expect(forbidden).toEqual([]);
}

/** A piece of work has at most one debit without a credit at any moment. A pause prevents its sends. */
function costsOnce({ id, stopped }: Seen, own: readonly AttemptRow[], ledger: readonly LedgerLine[]): void {
  const movements = ledger.filter((line) => own.some((attempt) => isFor(attempt, line)));
  expect(netDebits(movements), `net debits of ${id}`).toBeLessThanOrEqual(1);
  const sends = own.reduce((sum, attempt) => sum + attempt.sends, 0);
  if (stopped) expect(sends, `sends of ${id}, which is paused`).toBe(0);
}

/** Prices and refunds that the API shows are in the journal, before any reconciliation. */
function isInTheJournal({ id, shown }: Seen, own: readonly AttemptRow[], causes: ReadonlySet<string>): void {
  const { status, charged, refund } = shown;
  const isPaid = (status === 'completed' || status === 'active') && charged != null;
  const isBooked = own.some((attempt) => causes.has(attempt.id));
  if (isPaid) expect(isBooked, `the price of ${id} is in the journal`).toBe(true);
  if (refund?.status === 'completed')
    expect(causes, `the refund of ${id} is in the journal`).toContain(refund.order_id);
}

/** An eSIM is refunded once. Refunds that the API shows are in the wallet. @param booked number of booked refunds. */
function eachRefundIsPaidOnce(work: readonly Seen[], ledger: readonly LedgerLine[], booked: number): void {
  const credits = ledger.filter(({ refund_id: id }) => id !== null);
  const esims = credits.map(({ esim_id: esim }) => esim);
  expect(esims, 'eSIMs that were refunded').toEqual([...new Set(esims)]);
  const reported = work.flatMap(({ shown: { refund } }) =>
    refund?.status === 'completed' ? (refund.service_refund_id ?? []) : [],
  );
  expect(credits.map(({ refund_id: id }) => id)).toEqual(expect.arrayContaining(reported));
  expect(booked, 'refunds in the journal').toBeLessThanOrEqual(credits.length);
}

/** The service refused no call as a conflict: nothing is sent for an eSIM during its top-up or cancellation. */
async function nothingIsDoneToABusyEsim({ simulator }: OrderDesk): Promise<void> {
  for (const endpoint of ['createTopup', 'cancelEsim']) {
    const refused = (await simulator.requests(endpoint)).filter(({ result_status: result }) => result === 409);
    expect(refused, `calls of ${endpoint} that the service refused as a conflict`).toEqual([]);
  }
}
