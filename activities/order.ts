import { ApplicationFailure } from '@temporalio/common';
import { isFinal } from '#domain/order-lifecycle.ts';
import { attemptReference } from '#domain/identifiers.ts';
import { REFUSALS } from '#domain/operator-actions.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { findAttempt, latestAttempt, openAttempt, requestBodyPlace, type AttemptRow } from '#db/attempts.ts';
import { buyingBarrier } from '#db/buying-barrier.ts';
import type { Database, Executor } from '#db/database.ts';
import { unappliedFor, type InboxRow } from '#db/inbox.ts';
import { actOnOrder } from '#db/operator-actions.ts';
import { deviceImeiPlace, lockUnfinishedOrder, OrderFinishedError, OrderMissingError, readOrder, recordStep } from '#db/orders.ts';
import type { OrderRow } from '#db/orders.ts';
import { addTimelineEntry } from '#db/timeline.ts';
import { orderRequestBytes } from '#upstream/request-bytes.ts';
import { ACTION_REFUSED, ORDER_FINISHED, type ServiceObservation } from '#workflows/messages.ts';
import { attemptView, type OrderDependencies } from '#activities/order-context.ts';
import { createDelivery } from '#activities/order-delivery.ts';
import { createPurchase } from '#activities/order-purchase.ts';
import type { OpenResult, OrderActivities, OrderEnd, OrderSnapshot, StepRecord } from '#activities/order-types.ts';

/** Makes the activities of the order workflow; the edge where errors become results or Temporal failures. */
export function createOrderActivities(dependencies: OrderDependencies): OrderActivities {
  const { database, keyRing, now } = dependencies;

  const activities: OrderActivities = {
    beginOrder: ({ orderId }) =>
      database.transaction(async (tx): Promise<OrderSnapshot> => {
        const order = await lockUnfinishedOrder(tx, orderId);
        const attempt = (await latestAttempt(tx, orderId)) ?? (await openNumbered(tx, keyRing, order, 1));
        return {
          status: order.status,
          acceptedAt: order.createdAt.getTime(),
          attempt: attemptView(attempt),
          extraAttempts: order.extraAttempts,
          observations: (await unappliedFor(tx, orderId)).flatMap((row) => observationOf(row, attempt)),
          ...(order.attentionReason !== null && { attention: order.attentionReason }),
          ...(order.deadlineAt !== null && { deadlineAt: order.deadlineAt.getTime() }),
        };
      }),

    openNextAttempt: ({ orderId, number }) =>
      database.transaction(async (tx): Promise<OpenResult> => {
        const order = await lockUnfinishedOrder(tx, orderId);
        const known = await findAttempt(tx, orderId, number);
        if (known !== undefined) return { kind: 'opened', attempt: attemptView(known) };
        const by = await buyingBarrier(tx, orderId);
        if (by !== undefined) return { kind: 'barred', by };
        return { kind: 'opened', attempt: attemptView(await openNumbered(tx, keyRing, order, number)) };
      }),

    recordOrderStep: (step) =>
      database.transaction((tx) => recordStep(tx, step.orderId, orderStep(step), new Date(now()))),

    actOnOrder: ({ orderId, action, operator }) =>
      database.transaction(async (tx) => {
        const result = await actOnOrder(tx, orderId, action, operator, new Date(now()));
        if (result.kind !== 'refused') return result.kind;
        throw ApplicationFailure.nonRetryable(REFUSALS[result.refusal], ACTION_REFUSED);
      }),

    ...createPurchase(dependencies),
    ...createDelivery(dependencies),
  };
  return translateErrors(activities, database);
}

async function openNumbered(tx: Executor, keyRing: KeyRing, order: OrderRow, number: number): Promise<AttemptRow> {
  const reference = attemptReference(order.externalOrderId, number);
  const deviceImei =
    order.sealedDeviceImei === null ? undefined : keyRing.openText(order.sealedDeviceImei, deviceImeiPlace(order.id));
  const body = orderRequestBytes({
    packageId: order.packageId,
    reference,
    ...(deviceImei !== undefined && { deviceImei }),
  });
  const attempt = await openAttempt(tx, {
    orderId: order.id,
    number,
    reference,
    sealedBody: (attemptId) => keyRing.seal(body, requestBodyPlace(attemptId)),
  });
  await addTimelineEntry(tx, { kind: 'order', id: order.id }, {
    event: 'attempt.prepared',
    message: `Attempt ${number} was prepared: its key, reference and exact body are stored.`,
    detail: { attempt: number, reference },
    dedupKey: `attempt.prepared:${number}`,
  });
  return attempt;
}

function observationOf(row: InboxRow, latest: AttemptRow): ServiceObservation[] {
  // What the relay has not judged yet reaches the workflow as a signal.
  if (row.decision === null || row.decision === 'known' || row.outcome === null) return [];
  return [
    {
      inboxId: String(row.id),
      source: row.source,
      attemptNumber: latest.number,
      outcome: row.outcome,
      decision: row.decision,
    },
  ];
}

function orderStep(step: StepRecord) {
  return {
    status: step.status,
    entry: {
      event: step.event,
      message: step.message,
      detail: { attempt: step.attemptNumber, ...(step.failure !== undefined && { failure_class: step.failure.class }) },
      dedupKey: step.stepKey,
    },
    failure: step.failure,
    attention: step.attention,
    nextStepAt: step.nextStepAt === undefined ? undefined : new Date(step.nextStepAt),
    applied: step.applied.map(BigInt),
  };
}

/**
 * Turns what the workflow must know into Temporal failures that are not retried: the order has ended, or it is not
 * in this database. Everything else is passed on and retried as each activity's policy says.
 */
function translateErrors(activities: OrderActivities, database: Database): OrderActivities {
  const translated = Object.entries(activities).map(([name, activity]) => [
    name,
    async (input: never) => {
      try {
        return await (activity as (input: never) => Promise<unknown>)(input);
      } catch (error) {
        throw await translate(error, database);
      }
    },
  ]);
  // Same names, same signatures: each entry is wrapped and nothing else.
  return Object.fromEntries(translated) as OrderActivities;
}

async function translate(error: unknown, database: Database): Promise<unknown> {
  if (error instanceof OrderFinishedError) {
    const end = orderEnd(await database.run((db) => readOrder(db, error.orderId)));
    return ApplicationFailure.create({ type: ORDER_FINISHED, message: error.message, nonRetryable: true, details: [end] });
  }
  if (error instanceof OrderMissingError || error instanceof RangeError) {
    return ApplicationFailure.nonRetryable(error.message, error.name);
  }
  return error;
}

function orderEnd(order: OrderRow): OrderEnd {
  const { status } = order;
  if (!isFinal(status)) throw new Error(`order ${order.id} was reported as finished, but it is ${status}`);
  return {
    status,
    ...(order.esimId !== null && { esimId: order.esimId }),
    ...(order.failureClass !== null && { failure: order.failureClass }),
  };
}
