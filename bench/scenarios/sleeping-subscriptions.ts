import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { SleepingJobs } from '#bench/contestants/sleeping-jobs.ts';
import type { ScenarioResult } from '#bench/results.ts';
import { compare, measure } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { NAMESPACE, type Product } from '#bench/support/product.ts';
import { newId } from '#db/connection/ids.ts';
import { attempts, outbox, vpnSubscriptions } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';

const SIZES = {
  full: { few: 1_000, many: 10_000, woken: 50, wakeInMs: 30_000 },
  quick: { few: 5, many: 20, woken: 3, wakeInMs: 8_000 },
} as const;

const BATCH = 500;
const LOOK_EVERY_MS = 250;
const WOKEN_WITHIN_MS = 600_000;
const YEAR_MS = 365 * 86_400_000;
/** What sleeps beyond the worker's cache of workflows is with Temporal alone. */
const GROWTH_LIMIT = 2;
const RESIDENT_LIMIT = 1.1;

/**
 * Memory of the worker with many sleeping VPN subscriptions beside few, and how late one wakes: what lives for years must
 * cost next to nothing.
 */
export async function measureSleepingSubscriptions(context: BenchContext): Promise<ScenarioResult[]> {
  const { few, woken, wakeInMs } = SIZES[context.mode];
  const many = context.sleeping ?? SIZES[context.mode].many;
  const product = await context.product();
  const none = await product.liveHeapMb('worker');
  context.say(`sleeping subscriptions: ${few}, then ${many}`);
  const later = () => new Date(Date.now() + YEAR_MS);
  await addSleeping(product, few, later());
  const withFew = { resident: await product.residentMb('worker'), heap: await product.liveHeapMb('worker') };
  await addSleeping(product, many - few, later());
  const withMany = { resident: await product.residentMb('worker'), heap: await product.liveHeapMb('worker') };
  const ratios = [withMany.heap / withFew.heap, withMany.resident / withFew.resident];
  context.say(`sleeping subscriptions: heap and resident memory ${ratios.map((each) => each.toFixed(2)).join(', ')}`);
  context.say(`sleeping subscriptions: ${woken} of them wake, and as many jobs of graphile-worker`);
  // A subscription is looked at a while after its end.
  const endsAt = new Date(Date.now() + wakeInMs - DEFAULT_POLICY.purchase.expiryGraceMs);
  const ids = await addSleeping(product, woken, endsAt);
  const lateness = await latenessOf(context, ids);
  await using jobs = await SleepingJobs.start(context);
  await jobs.add(many, later());
  const jobsLate = await jobs.lateness(woken, new Date(Date.now() + wakeInMs));
  return [
    measure({
      id: 'sleeping_subscriptions.worker',
      measured: `JavaScript heap of the worker after a full collection: with ${many} sleeping VPN subscriptions, divided by with ${few}`,
      unit: 'ratio',
      better: 'lower',
      values: [withMany.heap / withFew.heap],
      limit: {
        of: 'value',
        bound: 'at_most',
        amount: GROWTH_LIMIT,
        reason: 'The cache of workflows is bounded; the rest is with Temporal.',
      },
      details: {
        heap_before_mb: none,
        [`heap_with_${few}_mb`]: withFew.heap,
        [`heap_with_${many}_mb`]: withMany.heap,
      },
    }),
    measure({
      id: 'sleeping_subscriptions.resident',
      measured: `Resident memory of the worker with ${many} sleeping VPN subscriptions, divided by with ${few}`,
      unit: 'ratio',
      better: 'lower',
      values: [withMany.resident / withFew.resident],
      limit: {
        of: 'value',
        bound: 'at_most',
        amount: RESIDENT_LIMIT,
        reason: 'As above; the collector leaves a little more behind after more work.',
      },
      details: {
        [`resident_with_${few}_mb`]: withFew.resident,
        [`resident_with_${many}_mb`]: withMany.resident,
        [`graphile_worker_with_${many}_mb`]: jobs.residentMb(),
      },
    }),
    compare({
      id: 'sleeping_subscriptions.wake_up.graphile_worker',
      measured: `Median time from the moment at which a subscription is due, among ${many} that sleep, to its first step`,
      unit: 'ms',
      better: 'lower',
      ours: lateness,
      peer: {
        id: 'graphile_worker',
        measured: `a job of graphile-worker among ${many}, looked for every two seconds, its default`,
        rounds: jobsLate,
      },
    }),
  ];
}

/**
 * Waits until the workflows of these subscriptions have woken at their end.
 *
 * @returns milliseconds from the planned end of the timer to the completion of the workflow task that follows, each.
 */
async function latenessOf({ temporalAddress }: BenchContext, ids: readonly string[]): Promise<number[]> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection, namespace: NAMESPACE });
    const late: number[] = [];
    const deadline = Date.now() + WOKEN_WITHIN_MS;
    for (const id of ids) {
      let found: number | undefined;
      while ((found = await wokenLate(client, `vpn_subscription/${id}`)) === undefined) {
        if (Date.now() > deadline) throw new Error(`the subscription ${id} has not woken`);
        await delay(LOOK_EVERY_MS);
      }
      late.push(found);
    }
    return late;
  } finally {
    await connection.close();
  }
}

async function wokenLate(client: Client, workflowId: string): Promise<number | undefined> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const dueAt = new Map<string, number>();
  let firedDueAt: number | undefined;
  for (const event of events ?? []) {
    const at = Number(event.eventTime?.seconds ?? 0) * 1_000 + (event.eventTime?.nanos ?? 0) / 1e6;
    const started = event.timerStartedEventAttributes;
    if (started != null) {
      const timeout = started.startToFireTimeout;
      dueAt.set(started.timerId ?? '', at + Number(timeout?.seconds ?? 0) * 1_000 + (timeout?.nanos ?? 0) / 1e6);
    }
    if (event.timerFiredEventAttributes != null)
      firedDueAt ??= dueAt.get(event.timerFiredEventAttributes.timerId ?? '');
    if (event.workflowTaskCompletedEventAttributes != null && firedDueAt !== undefined) return at - firedDueAt;
  }
  return undefined;
}

/**
 * Puts subscriptions that were bought before into the database, lets the relay start them, and waits until all sleep.
 *
 * @returns the ids of the last batch.
 */
async function addSleeping({ database }: Product, count: number, expiresAt: Date): Promise<string[]> {
  let ids: string[] = [];
  const now = Date.now();
  for (let done = 0; done < count; done += BATCH) {
    ids = Array.from({ length: Math.min(BATCH, count - done) }, () => newId('vpn_subscription'));
    await database.transaction(async (tx) => {
      await tx.insert(vpnSubscriptions).values(
        ids.map((id) => ({
          id,
          apiKeyId: 'key_bench',
          externalSubscriptionId: id,
          vpnPlanId: 301,
          encryptedCustomerReference: Buffer.alloc(0),
          customerReferenceHash: Buffer.alloc(0),
          customerPrice: '29.99',
          customerPriceCurrency: 'USD',
          status: 'active' as const,
          completedAt: new Date(now),
          startedAt: new Date(now),
          expiresAt,
        })),
      );
      await tx.insert(attempts).values(
        ids.map((id) => ({
          id: newId('attempt'),
          subjectKind: 'vpn_subscription' as const,
          subjectId: id,
          number: 1,
          idempotencyKey: id,
          reference: id,
          encryptedRequestBody: Buffer.alloc(0),
          state: 'completed' as const,
          serviceId: id,
        })),
      );
      await tx
        .insert(outbox)
        .values(
          ids.map((id) => ({ topic: 'start_work' as const, subjectKind: 'vpn_subscription' as const, subjectId: id })),
        );
    });
  }
  for (;;) {
    const [row] = await database.run((db) => db.select({ waiting: sql<number>`count(*)::int` }).from(outbox));
    if (row?.waiting === 0) break;
    await delay(LOOK_EVERY_MS);
  }
  // The last ones are started, and come to their sleep within a task of theirs.
  await delay(20 * LOOK_EVERY_MS);
  return ids;
}
