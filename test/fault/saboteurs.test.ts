import { describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { auditBooks } from '#test/support/books.ts';
import { OrderDesk, PACKAGE } from '#test/support/order-desk.ts';
import { startStack, type Stack } from '#test/support/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** That the checks of these tests find something to complain of when there is: each run has an honest twin. */
const audit = (stack: Stack, desk: OrderDesk) => auditBooks(stack, { accepted: desk.accepted, timeoutMs: 40_000 });

describe('a worker that sends with a new idempotency key each time', () => {
  const lostAnswer = async (stack: Stack) => {
    const desk = new OrderDesk(stack);
    // A service that tells orders apart by their keys alone.
    await desk.simulator.dialect('reusable_references');
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await desk.complete(PACKAGE.completedAtOnce);
    return desk;
  };

  it('is caught: the books show that it bought twice', async () => {
    await using stack = await startStack({ scripts: { worker: 'test/fault/saboteurs/random-key-worker.ts' } });
    const desk = await lostAnswer(stack);
    const [id] = desk.accepted;
    expect(await audit(stack, desk)).toEqual([
      expect.stringContaining(`order ${id} (completed) has 2 net debits at the service, allowed is 1`),
      expect.stringMatching(/the service: debit 2\.4 USD, debit 2\.4 USD\n\s+our journal: debit 2\.4 USD$/),
      expect.stringContaining(`order ${id} was bought 2 times`),
    ]);
  });

  it('has an honest twin that buys once', async () => {
    await using stack = await startStack();
    const desk = await lostAnswer(stack);
    expect(await audit(stack, desk)).toEqual([]);
  });
});

describe('an API that acknowledges a webhook before it is stored', () => {
  /** The insert cannot commit, and the process dies before it can. */
  const dieBeforeTheCommit = async (stack: Stack) => {
    const desk = new OrderDesk(stack);
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    const told = async () => (await desk.simulator.webhooks(sold!.id)).find(({ event }) => event === 'order.completed');

    let acknowledged = false;
    await withClient(stack.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE inbox IN ACCESS EXCLUSIVE MODE');
      await desk.simulator.completeOrder(sold!.id);
      await waitFor('the API stores the webhook, in vain', async () => {
        acknowledged = (await told())?.status === 'delivered';
        const { rows } = await client.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'reseller-api' AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      // The honest one cannot have answered; the hasty one does so at once.
      acknowledged = await waitFor('the API has answered', async () => (await told())?.status === 'delivered', { timeoutMs: 2_000 }).catch(() => false);
      await stack.kill('api');
      // Or the server would carry out what its dead client had asked for.
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'reseller-api'`,
      );
      await client.query('ROLLBACK');
    });
    await stack.start('api');
    await desk.reaches(id, 'completed');
    return { desk, acknowledged, webhook: (await told())! };
  };

  it('is caught: the service was told that its webhook is safe, and it is not there', async () => {
    await using stack = await startStack({ scripts: { api: 'test/fault/saboteurs/hasty-api.ts' } });
    const { desk, acknowledged, webhook } = await dieBeforeTheCommit(stack);
    expect(acknowledged).toBe(true);
    expect(await audit(stack, desk)).toEqual([expect.stringContaining(`webhook ${webhook.id} (order.completed of ${webhook.order_id}) was acknowledged and is not stored`)]);
  });

  it('has an honest twin that acknowledges nothing, and gets it again', async () => {
    await using stack = await startStack({ simulator: { SIMULATOR_WEBHOOK_RETRY_DELAY: '500ms' } });
    const { desk, acknowledged } = await dieBeforeTheCommit(stack);
    expect(acknowledged).toBe(false);
    expect(await audit(stack, desk)).toEqual([]);
  });
});
