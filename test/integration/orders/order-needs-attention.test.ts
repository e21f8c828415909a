import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep, runsAgain, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

/** Each schedule runs once a second; work counts as idle after two seconds. */
const RUNS = 4;

/** A service without look-ups and without resends, so only webhooks report. */
const SERVICE_MISSING_CAPABILITIES = 'order_read,order_list,wallet_transactions';
const environment = { ...RARE_UPKEEP, 'purchase.resend_window': '1ms', SERVICE_MISSING_CAPABILITIES };
const stack = disposedAtEnd(await startStack({ environment }));
const desk = checkedDesk(stack);

describe('an order with an unknown outcome, after its resend window', () => {
  it('needs attention, is never sent again, and continues without an operator when the service reports later', async () => {
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.place(1001);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'outcome_unknown' }, attempts: 1 } });
    // It is never sent again, neither by the sweeper nor by the reconciler.
    await frequentUpkeep(stack);
    await using operator = await TemporalOperator.connect(stack);
    for (const schedule of ['sweep', 'reconcile'] as const) await runsAgain(operator, schedule, RUNS);
    expect((await desk.sends(id)).flat()).toHaveLength(1);

    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    const [lost] = await desk.simulator.webhooks(sold!.id);
    await desk.simulator.replayDelivery(lost!.id);
    const order = await desk.reaches(id, 'completed');
    expect(order.body).toMatchObject({ charged: { amount: '2.40', currency: 'USD' }, operations: { attention: null } });
    expect(await desk.cases(id)).toEqual([{ reason: 'outcome_unknown', open: false }]);
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});
