import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { FakeOrder, type ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { withOrder } from '#test/support/work/workflows/order-workflow.ts';
import { explainQuery, retryUpdate, serviceObservedSignal } from '#workflows/messages.ts';

// A separate file, because the time-skipping server stops skipping after a refused update.
let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await timeSkippingEnvironment();
});

const orderWith = async (...sends: ScriptedSend[]) => new FakeOrder(sends, await environment.currentTimeMs());
const observation = (outcome: ServiceObservation['outcome'], inboxId = '1'): ServiceObservation => ({
  inboxId,
  source: 'webhook',
  attemptNumber: 1,
  outcome,
  decision: 'advance',
});

describe('a retry by an operator', () => {
  it('is refused for an order with a contradiction', async () => {
    const order = await orderWith({ answers: 'failed' });
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await waitFor('it is sent', () => order.sent.length === 1);
      await handle.signal(serviceObservedSignal, { ...observation('completed'), decision: 'contradiction' });
      await environment.sleep('2 days');
      expect(await handle.query(explainQuery)).toMatchObject({ attention: 'contradiction' });
      await expect(
        handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] }),
      ).rejects.toMatchObject({
        name: 'WorkflowUpdateFailedError',
      });
      await handle.terminate();
    });
    expect(order.sent).toHaveLength(1);
  });

  it('is refused for an order in progress at the service', async () => {
    const order = await orderWith({ answers: 'processing' });
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await expect(
        handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] }),
      ).rejects.toMatchObject({
        name: 'WorkflowUpdateFailedError',
      });
      await handle.terminate();
    });
  });
});
