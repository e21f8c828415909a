import { and, eq } from 'drizzle-orm';
import { inbox } from '#db/schema.ts';
import { endPause, pausePurchases } from '#test/drill/pauses.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE, type OrderDesk } from '#test/support/work/order-desk.ts';
import { ADA, withWorker, type OneRun, type Scenario, type TemporalUi } from '#test/workflow/scenarios/scenario.ts';
import { changeLimitUpdate, changeRetryPolicyUpdate, releaseUpdate, retryUpdate } from '#workflows/messages.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

const TOO_LITTLE = { amount: '0.01', currency: 'USD' };
const ENOUGH = { amount: '9.00', currency: 'USD' };

/** The heartbeat timeout detects the loss of a worker before the end of this lease. */
const LONG_LEASE = {
  'purchase.send_deadline': '14s',
  'purchase.send_lease': '16s',
  'purchase.send_activity_timeout': '30s',
};

export const PURCHASES: Readonly<Record<string, Scenario>> = {
  'gate-held-then-released': async (desk, temporal) => {
    await pausePurchases(desk.stack);
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.gate('purchases_paused'));
    await temporal.of(id).executeUpdate(releaseUpdate, { args: [ADA] });
    await desk.reaches(id, 'completed');
    await endPause(desk.stack);
    return id;
  },

  'worker-killed-while-leased': withWorker(LONG_LEASE, async (desk, temporal) => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 60_000, at: 'answer' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.bought(id);
    await desk.stack.kill('worker');
    await desk.stack.start('worker', LONG_LEASE);
    await temporal.waits(id, WAIT_NAMES.otherSend());
    await desk.reaches(id, 'completed');
    return id;
  }),

  'held-then-reported-failed': async (desk, temporal) => {
    const id = await desk.place(PACKAGE.completedAtOnce, { max_price: TOO_LITTLE });
    await desk.reaches(id, 'held');
    await desk.stack.kill('worker');
    const report = await reportFailed(desk, id);
    // As after the kill of a relay that had taken the row.
    await becomesDue(desk, report, 60_000);
    await desk.stack.start('worker');
    await temporal.waits(id, WAIT_NAMES.unjudgedReport());
    await becomesDue(desk, report, 0);
    // The wallet shows no debit.
    await waitFor('there is a second attempt', async () => (await desk.attempts(id)).length === 2);
    await temporal.of(id).executeUpdate(changeLimitUpdate, { args: [{ ...ADA, max_price: ENOUGH }] });
    await desk.reaches(id, 'completed');
    return id;
  },

  'held-continues-as-new': async (desk, temporal) => {
    const { id, first } = await longHold(desk, temporal);
    await temporal.of(id).executeUpdate(changeLimitUpdate, { args: [{ ...ADA, max_price: ENOUGH }] });
    await desk.reaches(id, 'completed');
    return first;
  },

  'held-continued': async (desk, temporal) => {
    const { id } = await longHold(desk, temporal);
    await desk.stack.api.patch(`/v1/orders/${id}/retry-policy`, {
      reason: 'No hurry.',
      first_wait_seconds: 600,
      longest_wait_seconds: 600,
    });
    await waitFor(
      'it waits for ten minutes',
      async () =>
        Date.parse((await desk.reaches(id, 'held')).textAt('operations', 'next_step_at')) > Date.now() + 60_000,
    );
    // It is refused while the order is tried by itself.
    await waitFor('it is tried again', () =>
      temporal
        .of(id)
        .executeUpdate(retryUpdate, { args: [ADA] })
        .then(() => true),
    );
    await temporal.of(id).executeUpdate(changeLimitUpdate, { args: [{ ...ADA, max_price: ENOUGH }] });
    await desk.reaches(id, 'completed');
    return id;
  },

  // The balance shows the debit, and the list not yet.
  'evidence-awaited-then-credited': async (desk, temporal) => {
    await desk.simulator.dialect('late_rows', { wallet_rows_after_ms: 6_000 });
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: 8_000 });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.evidence(1));
    await desk.reaches(id, 'completed');
    return id;
  },

  'unreadable-then-retried': async (desk, temporal) => {
    await desk.simulator.onRequest(
      'getEsim',
      { kind: 'answer', status: 200, body: '{}', headers: { 'content-type': 'application/json' } },
      { count: null },
    );
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.notAnswered('contract_drift'));
    await desk.simulator.calm();
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await desk.reaches(id, 'completed');
    return id;
  },

  'unread-then-delivered': async (desk, temporal) => {
    await desk.simulator.onRequest('getEsim', { kind: 'server_error' }, { count: null });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await temporal.waits(id, WAIT_NAMES.completion('eSIM', 'server_error'));
    await desk.simulator.calm();
    await desk.reaches(id, 'completed');
    return id;
  },

  'topup-held-then-new-attempt': async (desk) => {
    const id = await desk.topUp(await desk.newEsim(), 1002, { max_price: TOO_LITTLE });
    await desk.topupReaches(id, 'held');
    await desk.simulator.nextPurchases({ operation: 'topup', outcome: 'processing_then_failed', delay_ms: 200 });
    await desk.stack.api.patch(`/v1/topups/${id}/limit`, { reason: 'Agreed.', max_price: ENOUGH });
    await desk.topupReaches(id, 'completed');
    return id;
  },
};

/** Retries a held order each second until its workflow continues in a new run. @returns its id, and the run before. */
async function longHold(
  desk: OrderDesk,
  temporal: TemporalUi,
): Promise<{ readonly id: string; readonly first: OneRun }> {
  const id = await desk.place(PACKAGE.completedAtOnce, { max_price: TOO_LITTLE });
  await desk.reaches(id, 'held');
  const { workflowId, runId } = await temporal.of(id).describe();
  await temporal
    .of(id)
    .executeUpdate(changeRetryPolicyUpdate, { args: [{ ...ADA, first_wait_seconds: 1, longest_wait_seconds: 1 }] });
  await waitFor('it continues in a new run', async () => (await temporal.of(id).describe()).runId !== runId, {
    timeoutMs: 240_000,
  });
  return { id, first: { workflowId, runId } };
}

/** The service reports a purchase as failed that it never had. @returns the id of the inbox row, not judged yet. */
async function reportFailed(desk: OrderDesk, id: string): Promise<bigint> {
  const { reference } = (await desk.attempts(id))[0]!;
  const data = {
    id: `so-never-sold-${reference}`,
    external_order_id: reference,
    package_id: PACKAGE.completedAtOnce,
    status: 'failed',
  };
  await desk.simulator.sendWebhook({ event: 'order.failed', data });
  const { database } = desk.stack;
  return waitFor('its report is stored', async () => {
    const [row] = await database.run((db) =>
      db
        .select({ id: inbox.id })
        .from(inbox)
        .where(and(eq(inbox.reference, reference), eq(inbox.state, 'pending'))),
    );
    return row?.id;
  });
}

async function becomesDue({ stack }: OrderDesk, row: bigint, inMs: number): Promise<void> {
  await stack.database.run((db) =>
    db
      .update(inbox)
      .set({ availableAt: new Date(Date.now() + inMs) })
      .where(eq(inbox.id, row)),
  );
}
