import type { Client } from '@temporalio/client';
import type { PurchasePolicy } from '#domain/policy.ts';
import type { ServiceMode } from '#domain/service-address.ts';
import type { OrderRow } from '#db/orders.ts';
import { signalOrder, startOrderWorkflow, wakeOrder, type OrderStart } from '#temporal/start-order.ts';
import type { OrderWorkflows } from '#worker/relay.ts';

/** A call to Temporal that takes longer than this is given up; the row comes again. */
const CALL_DEADLINE_MS = 10_000;

/**
 * The relay's way to order workflows.
 *
 * @param client on the worker's own connection, so that a workflow may begin at once in this process (eager start).
 */
export function orderWorkflows(client: Client, policy: PurchasePolicy, environment: ServiceMode): OrderWorkflows {
  const startOf = (order: OrderRow): OrderStart => ({
    orderId: order.id,
    packageId: order.packageId,
    externalOrderId: order.externalOrderId,
    environment,
    policy,
  });
  const within = <Result>(call: () => Promise<Result>) => client.withDeadline(Date.now() + CALL_DEADLINE_MS, call);
  return {
    start: async (order) => {
      await within(() => startOrderWorkflow(client, startOf(order), { eager: true }));
    },
    wake: async (order) => {
      await within(() => wakeOrder(client, startOf(order)));
    },
    tell: async (order, observation) => {
      await within(() => signalOrder(client, startOf(order), observation));
    },
  };
}
