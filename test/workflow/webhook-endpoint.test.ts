import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import type { DeliveryRound, WebhookActivities } from '#activities/webhooks/webhook-activities.ts';
import {
  describeOutcome,
  isFailing,
  judgeTry,
  type EndpointHealth,
  type TryOutcome,
} from '#domain/events/webhook-delivery.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { bundledWorkflows } from '#test/support/work/workflows/order-workflow.ts';
import { deliveriesWaitSignal, WEBHOOK_TASK_QUEUE } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';
import { webhookEndpointWorkflow } from '#workflows/webhook-endpoint.ts';

const policy = DEFAULT_POLICY.outbound;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const environment = await timeSkippingEnvironment();

/** A fake of the activity for one endpoint with one delivery, with the rules of the product. */
class FakeEndpoint implements WebhookActivities {
  readonly tries: number[] = [];
  rounds = 0;
  isUp: (now: number) => boolean = () => false;
  #health: EndpointHealth = { failures: 0 };
  #delivery: { triedSince: number; failedTries: number; nextTryAt: number } | undefined;
  #disabled = false;

  constructor(now: number) {
    this.#delivery = { triedSince: now, failedTries: 0, nextTryAt: now };
  }

  async deliverDue(): Promise<DeliveryRound> {
    this.rounds += 1;
    const now = await environment.currentTimeMs();
    const delivery = this.#delivery;
    if (delivery !== undefined && Math.max(delivery.nextTryAt, this.#health.retryAt ?? 0) <= now) {
      this.tries.push(now);
      const outcome: TryOutcome = { kind: 'answered', status: this.isUp(now) ? 200 : 503 };
      const judged = judgeTry(outcome, { ...delivery, health: this.#health }, now, 0.5, policy);
      this.#health = judged.health;
      const { nextTryAt } = judged.delivery;
      this.#delivery =
        nextTryAt === undefined ? undefined : { ...delivery, failedTries: delivery.failedTries + 1, nextTryAt };
      this.#disabled = judged.disable !== undefined;
    }
    if (this.#disabled) return { kind: 'ended', reason: 'disabled' };
    if (this.#delivery === undefined) return { kind: 'idle' };
    const { failures, failingSince, retryAt = 0 } = this.#health;
    const waiting = { kind: 'waiting', nextAt: Math.max(this.#delivery.nextTryAt, retryAt), pending: 1 } as const;
    if (failingSince === undefined) return waiting;
    const last = describeOutcome({ kind: 'answered', status: 503 });
    return { ...waiting, failing: { since: failingSince, failures, last, isHeld: isFailing(this.#health, policy) } };
  }
}

async function withEndpoint(
  work: (fake: FakeEndpoint, handle: WorkflowHandle<typeof webhookEndpointWorkflow>) => Promise<void>,
): Promise<void> {
  const fake = new FakeEndpoint(await environment.currentTimeMs());
  const taskQueue = randomUUID();
  const { nativeConnection: connection } = environment;
  const worker = await Worker.create({ connection, taskQueue, workflowBundle: bundledWorkflows() });
  const activities = { deliverDue: () => fake.deliverDue() };
  const courier = await Worker.create({ connection, taskQueue: WEBHOOK_TASK_QUEUE, activities });
  await courier.runUntil(() =>
    worker.runUntil(async () => {
      const handle = await environment.client.workflow.start(webhookEndpointWorkflow, {
        workflowId: `webhook_endpoint/${randomUUID()}`,
        taskQueue,
        args: [{ endpointId: 'we_1' }],
      });
      await work(fake, handle);
    }),
  );
}

describe('the workflow of a webhook endpoint', () => {
  it('ends when all events are delivered', async () => {
    await withEndpoint(async (fake, handle) => {
      fake.isUp = () => true;
      expect(await handle.result()).toEqual({ ended: 'idle' });
      expect(fake.tries).toHaveLength(1);
    });
  });

  it('gives a delivery up after three days without success', async () => {
    await withEndpoint(async (fake, handle) => {
      expect(await handle.result()).toEqual({ ended: 'idle' });
      const [first = 0] = fake.tries;
      const lasted = (fake.tries.at(-1) ?? 0) - first;
      expect(lasted).toBeGreaterThan(3 * DAY - 8 * HOUR);
      expect(lasted).toBeLessThanOrEqual(3 * DAY);
      expect(fake.tries.length).toBeGreaterThanOrEqual(18);
      expect(fake.rounds).toBeLessThanOrEqual(fake.tries.length + 2);
    });
  });

  it('shows a failing endpoint, waits despite new events, and delivers at once on an urgent signal', async () => {
    await withEndpoint(async (fake, handle) => {
      await environment.sleep(10 * 60_000);
      const { typedSearchAttributes: shown } = await handle.describe();
      expect(shown.get(SEARCH_ATTRIBUTES.stage)).toBe('failing');
      const before = fake.rounds;
      for (let n = 0; n < 5; n += 1) await handle.signal(deliveriesWaitSignal, { urgent: false });
      await environment.sleep(1_000);
      expect(fake.rounds).toBe(before);
      await handle.signal(deliveriesWaitSignal, { urgent: true });
      await waitFor('there is another round', () => fake.rounds > before);
      expect(fake.rounds).toBe(before + 1);
      fake.isUp = () => true;
      expect(await handle.result()).toEqual({ ended: 'idle' });
    });
  });
});
