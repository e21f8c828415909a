import { afterEach, describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** The service accepts the order and never finishes it. An operator can act before it counts as silent. */

const stack = disposedAtEnd(
  await startStack({
    environment: RARE_UPKEEP,
    simulator: { SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' },
  }),
);
const desk = new OrderDesk(stack);
afterEach(async () => {
  await desk.simulator.calm();
});

const act = (id: string, action: string, body: Record<string, unknown> = {}) =>
  stack.api.post(`/v1/orders/${id}/${action}`, {
    reason: 'Their support says that it will not be delivered.',
    ...body,
  });
const NOT_BOUGHT = { case: 'outcome_unknown', verdict: 'not_bought' } as const;

async function neverFinished(): Promise<string> {
  const id = await desk.place(PACKAGE.staysProcessing);
  await desk.reaches(id, 'processing');
  return id;
}

describe('an order that the service never finishes', () => {
  it('can be resolved, and each refusal of another action names that possibility', async () => {
    const id = await neverFinished();
    for (const action of ['retry', 'abandon', 'release']) {
      // While a report of the service is not judged yet, no action is possible.
      await expect
        .poll(async () => (await act(id, action)).body)
        .toMatchObject({
          status: 409,
          detail: expect.stringContaining(
            'Possible now: `resolve` with the case `outcome_unknown` (bought or not_bought).',
          ) as string,
        });
    }
    expect((await act(id, 'resolve', { ...NOT_BOUGHT, next: 'abandon' })).body).toMatchObject({
      refusal: 'wallet_not_read',
    });
    expect(await desk.cases(id)).toEqual([]);
  });

  it('gets no new attempt while the wallet shows its debit, even after the verdict not_bought', async () => {
    const id = await neverFinished();
    // While a report of the service is not judged yet, no action is possible.
    await expect.poll(async () => (await act(id, 'resolve', NOT_BOUGHT)).status).toBe(200);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.at('operations', 'attention', 'reason')).toBe('failed_but_charged');
    expect(await desk.attempts(id)).toMatchObject([{ state: 'failed', settled: false }]);
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
    expect(await desk.cases(id)).toEqual([
      { reason: 'outcome_unknown', open: false },
      { reason: 'failed_but_charged', open: true },
    ]);
    // The service completes it later. The two reports contradict each other, and an operator decides.
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    await desk.simulator.completeOrder(sold!.id);
    await expect
      .poll(async () => (await desk.cases(id)).filter(({ open }) => open).map(({ reason }) => reason))
      .toContain('contradiction');
    expect(
      (await act(id, 'resolve', { case: 'contradiction', verdict: 'bought', service_order_id: sold!.id })).status,
    ).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });
});
