import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { ScenarioResult } from '#bench/results.ts';
import { measure } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import type { Product } from '#bench/support/product.ts';
import { newId } from '#db/connection/ids.ts';
import { attempts, outbox, vpnSubscriptions } from '#db/schema.ts';

const SIZES = { full: { few: 500, many: 5_000 }, quick: { few: 5, many: 20 } } as const;

const BATCH = 500;
const LOOK_EVERY_MS = 250;
const YEAR_MS = 365 * 86_400_000;
/** What sleeps beyond the worker's cache of workflows is with Temporal alone. */
const GROWTH_LIMIT = 2;

/**
 * Memory of the worker with many sleeping VPN subscriptions beside few: what lives for years must cost next to nothing.
 */
export async function measureSleepingSubscriptions(context: BenchContext): Promise<ScenarioResult[]> {
  const { few, many } = SIZES[context.mode];
  const product = await context.product();
  const none = await product.liveHeapMb('worker');
  context.say(`sleeping subscriptions: ${few}, then ${many}`);
  await addSleeping(product, few);
  const withFew = { heap: await product.liveHeapMb('worker'), resident: await product.residentMb('worker') };
  await addSleeping(product, many - few);
  const withMany = { heap: await product.liveHeapMb('worker'), resident: await product.residentMb('worker') };
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
        [`resident_with_${few}_mb`]: withFew.resident,
        [`resident_with_${many}_mb`]: withMany.resident,
      },
    }),
  ];
}

/**
 * Puts subscriptions that were bought before into the database, lets the relay start them, and waits until all sleep.
 */
async function addSleeping({ database }: Product, count: number): Promise<void> {
  const now = Date.now();
  for (let done = 0; done < count; done += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, count - done) }, () => newId('vpn_subscription'));
    await database.transaction(async (tx) => {
      await tx.insert(vpnSubscriptions).values(
        ids.map((id) => ({
          id,
          apiKeyId: 'key_bench',
          externalSubscriptionId: id,
          vpnPlanId: 301,
          encryptedCustomerReference: Buffer.alloc(0),
          customerPrice: '29.99',
          status: 'active' as const,
          completedAt: new Date(now),
          startedAt: new Date(now),
          expiresAt: new Date(now + YEAR_MS),
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
}
