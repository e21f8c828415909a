import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { SIMULATOR_EMAIL } from '#cli/start/environment.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';

let stack: Stack;
let desk: OrderDesk;

beforeAll(async () => {
  stack = await startStack({ environment: RARE_UPKEEP });
  desk = new OrderDesk(stack);
});
afterEach(async () => {
  await desk.simulator.calm();
  await desk.checkBooks();
});
afterAll(() => stack.stop());

const answer = z.object({
  esim_status: z.string().nullable(),
  forecast: z.string(),
  conditions: z.array(
    z.object({ name: z.string(), result: z.string(), evidence: z.string(), age_seconds: z.number().nullable() }),
  ),
});
const preflight = async (esimId: string) =>
  (await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`)).read(answer);
const failing = async (esimId: string) => {
  const { forecast, conditions } = await preflight(esimId);
  return [
    forecast,
    ...conditions.filter(({ result }) => result !== 'pass').map(({ name, result }) => `${name} ${result}`),
  ];
};

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

  it('names the failed condition [spec: record.esim.installation, record.esim.activation]', async () => {
    const installed = await desk.newEsim();
    const simulated = await stack.api.post(`/v1/esims/${installed}/simulate`, { state: 'installed' });
    const shown = { status: 'installed', installed_at: expect.any(String) };
    expect([simulated.status, simulated.body]).toMatchObject([200, shown]);
    await waitFor('the event', async () =>
      (await stack.api.get('/v1/events?type=esim.installed')).text.includes(installed),
    );
    expect(await failing(installed)).toEqual(['no_refund_expected', 'never_installed fail']);
    // The eSIM shows what was read.
    expect((await stack.api.get(`/v1/esims/${installed}`)).body).toMatchObject(shown);
    const consumed = await desk.newEsim();
    await desk.simulator.simulateEsim(await desk.esimAtService(consumed), 'consumed');
    expect(await failing(consumed)).toEqual([
      'no_refund_expected',
      'usage_is_zero fail',
      'never_installed fail',
      'never_activated fail',
    ]);
    const recharged = await desk.newEsim();
    await desk.topupReaches(await desk.topUp(recharged, 1001), 'completed');
    expect(await failing(recharged)).toEqual(['no_refund_expected', 'no_completed_topup fail']);
  });

  it('of an eSIM with a cancellation returns a conflict that names this cancellation', async () => {
    const esimId = await desk.newEsim();
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'completed');
    const { status, body } = await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`);
    expect([status, body]).toMatchObject([
      409,
      { code: 'cancellation_exists', existing: { id, href: `/v1/cancellations/${id}` } },
    ]);
  });

  it('of an eSIM cancelled outside of the product expects no refund, although all conditions pass', async () => {
    const esimId = await desk.newEsim();
    // Without a refund, because its credit would be unknown to the books.
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    await cancelElsewhere(await desk.esimAtService(esimId));
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

/** Cancels through another login of the same account. @param serviceEsimId the service's id of the eSIM. */
async function cancelElsewhere(serviceEsimId: string): Promise<void> {
  const login = { email: SIMULATOR_EMAIL, password: 'simulator-password', device_name: 'another' };
  const token = (await stack.simulator.post('/api/reseller/v1/sandbox/login', login)).textAt('access_token');
  const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': `elsewhere-${serviceEsimId}` };
  const { status } = await stack.simulator.post(`/api/reseller/v1/sandbox/esims/${serviceEsimId}/cancel`, undefined, {
    headers,
  });
  expect(status).toBe(200);
}
