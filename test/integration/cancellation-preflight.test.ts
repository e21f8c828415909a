import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { OrderDesk, PACKAGE } from '#test/support/order-desk.ts';
import { startStack, type Stack } from '#test/support/stack.ts';

let stack: Stack;
let desk: OrderDesk;

beforeAll(async () => {
  stack = await startStack();
  desk = new OrderDesk(stack);
});
afterEach(async () => {
  await desk.simulator.calm();
  await desk.checkBooks();
});
afterAll(() => stack.stop());

const answer = z.object({
  forecast: z.string(),
  conditions: z.array(z.object({ name: z.string(), result: z.string(), evidence: z.string(), age_seconds: z.number().nullable() })),
});
const newEsim = async () => (await desk.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
const preflight = async (esimId: string) => (await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`)).read(answer);
const failing = async (esimId: string) => {
  const { forecast, conditions } = await preflight(esimId);
  return [forecast, ...conditions.filter(({ result }) => result !== 'pass').map(({ name, result }) => `${name} ${result}`)];
};

describe('the preflight of a cancellation', () => {
  it('of an eSIM that was never touched passes all five conditions, each with fresh evidence', async () => {
    const { forecast, conditions } = await preflight(await newEsim());
    expect(forecast).toBe('refund_expected');
    expect(conditions.map(({ name, result }) => `${name} ${result}`)).toEqual([
      'usage_is_zero pass',
      'never_installed pass',
      'never_activated pass',
      'no_completed_topup pass',
      'debit_verified pass',
    ]);
    expect(conditions.every(({ age_seconds: age }) => age !== null)).toBe(true);
  });

  it('of one that was installed, used or recharged says which condition fails', async () => {
    const installed = await newEsim();
    await desk.simulator.simulateEsim(await serviceIdOf(installed), 'installed');
    expect(await failing(installed)).toEqual(['no_refund_expected', 'never_installed fail']);
    // What was read is what the eSIM shows from then on.
    expect((await stack.api.get(`/v1/esims/${installed}`)).body).toMatchObject({ status: 'installed', installed_at: expect.any(String) });
    const consumed = await newEsim();
    await desk.simulator.simulateEsim(await serviceIdOf(consumed), 'consumed');
    expect(await failing(consumed)).toEqual(['no_refund_expected', 'usage_is_zero fail', 'never_installed fail', 'never_activated fail']);
    const recharged = await newEsim();
    await desk.topupReaches(await desk.topUp(recharged, 1001), 'completed');
    expect(await failing(recharged)).toEqual(['no_refund_expected', 'no_completed_topup fail']);
  });

  it('of one that is being cancelled, or was, names the cancellation that has the answer', async () => {
    const esimId = await newEsim();
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'completed');
    const { status, body } = await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`);
    expect([status, body]).toMatchObject([409, { code: 'cancellation_exists', existing: { id, href: `/v1/cancellations/${id}` } }]);
  });

  it('says of what cannot be read that it is unknown, and why', async () => {
    const esimId = await newEsim();
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

async function serviceIdOf(esimId: string): Promise<string> {
  return (await stack.api.get(`/v1/esims/${esimId}`)).textAt('service_esim_id');
}
