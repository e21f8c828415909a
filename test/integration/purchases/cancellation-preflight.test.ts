import { and, eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { SIMULATOR_EMAIL } from '#cli/start/environment.ts';
import { journal } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { reconcileBooks, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = checkedDesk(stack);

const answer = z.object({
  esim_status: z.string().nullable(),
  forecast: z.string(),
  conditions: z.array(
    z.object({ name: z.string(), result: z.string(), evidence: z.string(), age_seconds: z.number().nullable() }),
  ),
});
const preflight = async (esimId: string) =>
  (await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`)).read(answer);

describe('the cancellation preflight', () => {
  it('of an unused eSIM passes all five conditions, each with fresh evidence', async () => {
    const { esim_status: status, forecast, conditions } = await preflight(await desk.newEsim());
    expect([status, forecast]).toEqual(['available', 'refund_expected']);
    expect(conditions.map(({ name, result }) => `${name} ${result}`)).toEqual([
      'usage_is_zero pass',
      'never_installed pass',
      'never_activated pass',
      'no_completed_topup pass',
      'debit_verified pass',
    ]);
    expect(conditions.every(({ age_seconds: age }) => age !== null)).toBe(true);
  });

  it('names the failed condition', async () => {
    const installed = await desk.newEsim();
    const simulated = await stack.api.post(`/v1/esims/${installed}/simulate`, { state: 'installed' });
    const shown = { status: 'installed', installed_at: expect.any(String) };
    expect([simulated.status, simulated.body]).toMatchObject([200, shown]);
    const told = async () => (await stack.api.get('/v1/events?type=esim.installed')).text;
    await waitFor('the event', async () => (await told()).includes(installed));
    const { forecast, conditions } = await preflight(installed);
    const failing = conditions.filter(({ result }) => result !== 'pass');
    expect([forecast, failing]).toMatchObject(['no_refund_expected', [{ name: 'never_installed', result: 'fail' }]]);
    // The eSIM shows what was read.
    expect((await stack.api.get(`/v1/esims/${installed}`)).body).toMatchObject(shown);
  });

  it('of an eSIM cancelled outside of the product expects no refund, although all conditions pass', async () => {
    const esimId = await desk.newEsim();
    // Without a refund, because nothing compares the books.
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    await cancelElsewhere(esimId);
    expect(await preflight(esimId)).toMatchObject({ esim_status: 'cancelled', forecast: 'no_refund_expected' });
  });
  it('reports an unreadable condition as unknown, with the reason', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.onRequest('getEsimUsage', { kind: 'server_error' });
    await desk.simulator.onRequest('listWalletTransactions', { kind: 'server_error' });
    const { forecast, conditions } = await preflight(esimId);
    expect(forecast).toBe('unknown');
    const unread = conditions.filter(({ result }) => result === 'unknown');
    expect(unread.map(({ name }) => name)).toEqual(['usage_is_zero', 'debit_verified']);
    for (const { evidence } of unread) expect(evidence).toContain('503');
    expect((await stack.api.get('/v1/esims/esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM/cancellation-preflight')).status).toBe(404);
  });
});

describe('an eSIM cancelled outside of the product', () => {
  const statusOf = async (esimId: string) => (await stack.api.get(`/v1/esims/${esimId}`)).at('status');
  const isCancelled = (esimId: string) =>
    waitFor('the eSIM is cancelled', async () => (await statusOf(esimId)) === 'cancelled');

  it('is cancelled here at once by its event, gets no share link, and its credit is the refund of its order', async () => {
    const esimId = await desk.newEsim();
    const orderId = (await stack.api.get(`/v1/esims/${esimId}`)).textAt('order_id');
    await cancelElsewhere(esimId);
    await isCancelled(esimId);
    const link = await postOnce(stack.api, `/v1/esims/${esimId}/share-links`, {});
    expect([link.status, link.at('code')]).toEqual([409, 'esim_ended']);
    expect(await desk.events(orderId)).toContain('order.esim_cancelled');
    const report = await stack.api.get(`/v1/wallet/reconciliations/${await reconcileBooks(stack)}`);
    expect(report.body).toMatchObject({ status: 'complete', findings: [], counts: { unmatched: 0 } });
    const ofRefund = and(eq(journal.causeKind, 'refund'), eq(journal.causeId, orderId));
    const credits = await stack.database.run((db) => db.select().from(journal).where(ofRefund));
    expect(credits).toMatchObject([{ direction: 'credit' }]);
  });

  it('without an event is read when its refund is in the wallet', async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await cancelElsewhere(esimId);
    await reconcileBooks(stack);
    await using operator = await TemporalOperator.connect(stack);
    await operator.client.schedule.getHandle('watch').trigger();
    await isCancelled(esimId);
    expect(await desk.refundsAtService(esimId)).toHaveLength(1);
  });
});

/** Cancels an eSIM through another login of the same account. @param esimId our id. */
async function cancelElsewhere(esimId: string): Promise<void> {
  const serviceEsimId = await desk.esimAtService(esimId);
  const login = { email: SIMULATOR_EMAIL, password: 'simulator-password', device_name: 'another' };
  const token = (await stack.simulator.post('/api/reseller/v1/sandbox/login', login)).textAt('access_token');
  const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': `elsewhere-${serviceEsimId}` };
  const path = `/api/reseller/v1/sandbox/esims/${serviceEsimId}/cancel`;
  expect((await stack.simulator.post(path, undefined, { headers })).status).toBe(200);
}
