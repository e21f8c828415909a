import { Client, Connection } from '@temporalio/client';
import { Driver, workflowDriver } from '#bench/drivers/protocol.ts';
import type { Limit, ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { EmptyWork, startEmptyWorker } from '#bench/support/empty-work.ts';
import { compare, inTurn, latencies, medians, rates } from '#bench/support/figures.ts';
import { Orders } from '#bench/support/orders.ts';
import { NAMESPACE } from '#bench/support/product.ts';

const SIZES = {
  full: { rounds: 5, alone: { count: 20, atOnce: 1 }, busy: { count: 120, atOnce: 50 } },
  quick: { rounds: 1, alone: { count: 1, atOnce: 1 }, busy: { count: 4, atOnce: 4 } },
} as const;

const PEER = {
  id: 'empty_workflow',
  measured: 'Workflow of three empty activities on the same Temporal server: from the start call to its result',
};
const TASK_QUEUE = 'peer';
const WORKFLOW_TYPE = 'threeEmptyActivities';

const SAME_TURNS = {
  id: 'same_turns',
  measured: 'Empty workflow of as many turns as an order of ours, local and regular activities in the same order',
};

const LIMITS = {
  sameTurnsAlone: {
    of: 'ratio_to_peer',
    bound: 'at_most',
    amount: 1.3,
    reason: 'An order is mostly the engine’s turns: what ours does between them should hide behind them.',
  },
  sameTurnsBusy: {
    of: 'ratio_to_peer',
    bound: 'at_least',
    amount: 0.85,
    reason: 'As above, with all cores busy.',
  },
  alone: {
    of: 'ratio_to_peer',
    bound: 'at_most',
    amount: 2,
    reason:
      'The relay, seven transactions and two calls to the service should together cost no more than the engine does for three steps.',
  },
  busy: {
    of: 'ratio_to_peer',
    bound: 'at_least',
    amount: 0.5,
    reason: 'As above: what is ours should take no more of a machine than the engine takes for three steps.',
  },
} as const satisfies Record<string, Limit>;

export async function measureOrderToDelivery(context: BenchContext): Promise<ScenarioResult[]> {
  const { rounds, alone, busy } = SIZES[context.mode];
  const [product, peer] = await Promise.all([context.product(), startEmptyWorker(context, TASK_QUEUE)]);
  await using orders = new Orders(product);
  await using workflows = new Driver(workflowDriver);
  const target = {
    address: context.temporalAddress,
    namespace: NAMESPACE,
    taskQueue: TASK_QUEUE,
    workflowType: WORKFLOW_TYPE,
  };
  await orders.carryThrough({ count: 1, atOnce: 1 });
  await using empty = await EmptyWork.start(context);
  const contestants = (load: { count: number; atOnce: number }) => ({
    ours: () => orders.carryThrough(load),
    peer: () => workflows.run({ ...load, ...target }),
    sameTurns: () => empty.sameTurns(load),
  });

  context.say(`orders: ${rounds} rounds of ${alone.count}, one at a time, and as many empty workflows in turn`);
  const oneByOne = await inTurn(contestants(alone), rounds);
  await requireThreeActivities(context);
  context.say(
    `orders: ${rounds} rounds of ${busy.count}, ${busy.atOnce} at a time, and as many empty workflows in turn`,
  );
  const atOnce = await inTurn(contestants(busy), rounds);
  await context.children.stop(peer);
  const alike = {
    alone: {
      measured:
        'One order at a time over POST /v1/orders, completed by the service at once: median time from its acceptance in ' +
        'PostgreSQL to its delivery (orders.created_at to completed_at)',
      unit: 'ms',
      better: 'lower',
      ours: medians(oneByOne.ours),
      details: latencies(oneByOne.ours, 95),
    },
    busy: {
      measured:
        `Orders over POST /v1/orders to their delivery, ${busy.atOnce} under way at any time; ` +
        'API, worker, service and servers on one machine',
      unit: 'orders/s',
      better: 'higher',
      ours: rates(atOnce.ours),
      details: latencies(atOnce.ours, 95),
    },
  } as const;
  return [
    compare({
      ...alike.alone,
      id: 'order_to_delivery.alone.empty_workflow',
      peer: { ...PEER, rounds: medians(oneByOne.peer) },
      limit: LIMITS.alone,
    }),
    compare({
      ...alike.busy,
      id: 'order_to_delivery.at_50.empty_workflow',
      peer: { ...PEER, rounds: rates(atOnce.peer) },
      limit: LIMITS.busy,
    }),
    compare({
      ...alike.alone,
      id: 'order_to_delivery.alone.same_turns',
      peer: { ...SAME_TURNS, rounds: medians(oneByOne.sameTurns) },
      limit: LIMITS.sameTurnsAlone,
    }),
    compare({
      ...alike.busy,
      id: 'order_to_delivery.at_50.same_turns',
      peer: { ...SAME_TURNS, rounds: rates(atOnce.sameTurns) },
      limit: LIMITS.sameTurnsBusy,
    }),
  ];
}

/** @throws Error unless the peer's workflows do what they are compared for. */
async function requireThreeActivities({ temporalAddress }: BenchContext): Promise<void> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection, namespace: NAMESPACE });
    for await (const { workflowId } of client.workflow.list({
      query: `WorkflowType = '${WORKFLOW_TYPE}'`,
      pageSize: 1,
    })) {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const completed = (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes != null).length;
      if (completed !== 3) throw new Error(`the peer's workflow ran ${completed} activities instead of 3`);
      return;
    }
    throw new Error('the peer has run no workflow');
  } finally {
    await connection.close();
  }
}
