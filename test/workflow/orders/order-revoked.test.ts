/** Revoked resends and attempts, and the resend window, in the workflow. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { FakeOrder, type ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { POLICY, withOrder } from '#test/support/work/workflows/order-workflow.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await timeSkippingEnvironment();
});

const orderWith = async (...sends: ScriptedSend[]) => new FakeOrder(sends, await environment.currentTimeMs());

describe('an order with an unknown outcome', () => {
  it('is not sent again, but looked up, if resends were revoked since it began', async () => {
    const order = await orderWith({ fails: 'timeout' }, 'is revoked');
    order.lookUps = ['found completed'];
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('is sent again after refusals that took longer than the window, because refusals start no window', async () => {
    const refused = Array.from({ length: 8 }, () => ({ fails: 'insufficient_balance' }) as const);
    const order = await orderWith(...refused, { fails: 'timeout' }, { answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent.at(-1)!.at - order.sent[0]!.at).toBeGreaterThan(POLICY.resendWindowMs);
    expect(order.sent).toHaveLength(10);
  });
});

describe('an order whose attempt failed', () => {
  it('fails if further attempts were revoked since its workflow began', async () => {
    const order = await orderWith({ answers: 'failed' }, { answers: 'completed' });
    order.evidence = ['credited'];
    order.attemptsInForce = 1;
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result).toMatchObject({ status: 'failed', endedBy: 'attempts_used_up' });
    expect(order.sent).toHaveLength(1);
  });
});
