/** Scenarios of orders whose service does not answer look-ups, and of rows that PostgreSQL has lost. */
import { eq, sql } from 'drizzle-orm';
import { attempts } from '#db/schema.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE, type OrderDesk } from '#test/support/work/order-desk.ts';
import { ADA, withWorker, type Scenario } from '#test/workflow/scenarios/scenario.ts';
import { resolveUpdate, retryUpdate } from '#workflows/messages.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

const SOON = { 'purchase.look_up_again': '500ms', 'purchase.look_up_again_max': '500ms' } as const;

/** The window allows two sends. It ends before the third. */
const SHORT_WINDOW = { 'purchase.resend_window': '3s', 'purchase.resend_delay': '2s' } as const;

export const OUTAGES: Readonly<Record<string, Scenario>> = {
  'looked-up-again-then-found': withWorker(SOON, async (desk, temporal) => {
    await desk.simulator.dialect('conflicts');
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.notAnswered('service_not_answering'));
    await desk.simulator.calm();
    await desk.reaches(id, 'completed');
    return id;
  }),

  'absence-proven-then-resent': withWorker(SHORT_WINDOW, async (desk, temporal) => {
    await desk.simulator.onRequest('createOrder', { kind: 'connection_reset' }, { count: 2 });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.absence(1));
    await desk.reaches(id, 'completed');
    return id;
  }),

  'sends-do-not-begin': withWorker({ 'purchase.stalled_after': '1s' }, async (desk, temporal) => {
    await refuseClaims(desk, true);
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.notBegun(1));
    await waitFor('a case is open', async () => (await desk.cases(id)).some(({ reason }) => reason === 'stalled'));
    await refuseClaims(desk, false);
    await desk.reaches(id, 'completed');
    return id;
  }),

  'row-lost-then-restored': withWorker({ 'purchase.missing_row_check': '1s' }, async (desk, temporal) => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const { workflowId, runId } = await temporal.of(id).describe();
    const { database } = desk.stack;
    await database.run((db) => db.execute(sql`create table lost as select * from orders where id = ${id}`));
    await database.run((db) => db.execute(sql`delete from orders where id = ${id}`));
    await temporal.of(id).signal('operatorActed');
    await temporal.waits(id, WAIT_NAMES.missingRow());
    await database.run((db) => db.execute(sql`insert into orders select * from lost`));
    await database.run((db) => db.execute(sql`drop table lost`));
    await desk.simulator.completeOrder((await desk.soldFor(id)).id);
    await desk.reaches(id, 'completed');
    return { workflowId, runId };
  }),

  'records-lost-then-resolved': withWorker({ SERVICE_MISSING_CAPABILITIES: 'key_replay' }, async (desk, temporal) => {
    await desk.simulator.onRequest('createOrder', { kind: 'connection_reset' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.person('outcome_unknown'));
    await setBack(desk, id);
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await temporal.waits(id, WAIT_NAMES.person('records_lost'));
    const verdict = { ...ADA, case: 'records_lost', verdict: 'not_bought', next: 'continue' } as const;
    await temporal.of(id).executeUpdate(resolveUpdate, { args: [verdict] });
    await desk.reaches(id, 'completed');
    return id;
  }),
};

/** Makes PostgreSQL refuse all claims of sends, until called with false. */
async function refuseClaims({ stack }: OrderDesk, refused: boolean): Promise<void> {
  await stack.database.run(async (db) => {
    if (!refused) {
      await db.execute(sql`drop trigger no_claim on attempts`);
      return;
    }
    await db.execute(sql`create or replace function no_claim() returns trigger language plpgsql as
      $$ begin raise exception 'no claims' using errcode = '55000'; end $$`);
    await db.execute(sql`create trigger no_claim before update on attempts for each row
      when (new.state = 'sending') execute function no_claim()`);
  });
}

/** Resets the attempt to its state before the first send, as after a loss of commits. */
async function setBack({ stack }: OrderDesk, id: string): Promise<void> {
  const before = {
    state: 'prepared',
    sends: 0,
    anyUnknown: false,
    firstSentAt: null,
    firstUnrefusedSendAt: null,
  } as const;
  await stack.database.run((db) =>
    db
      .update(attempts)
      .set({ ...before, failureClass: null, failureDetail: null })
      .where(eq(attempts.subjectId, id)),
  );
}
