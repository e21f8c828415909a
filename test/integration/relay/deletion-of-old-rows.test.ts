import { afterEach, describe, expect, it } from 'vitest';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { newId } from '#db/connection/ids.ts';
import { events, idempotencyKeys, webhookDeliveries } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const { sweep, outbound } = DEFAULT_POLICY;
/** More than two batches; the last one is not full. */
const OLD = 2 * sweep.batch + 7;
let bench: ActivityBench;

afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

describe('a sweep', () => {
  it('deletes all old rows, in any number of batches, and no others', async () => {
    bench = await ActivityBench.start();
    const { now } = bench.clock;
    const rows = Array.from({ length: OLD + 3 }, (_, index) => index);
    const at = (index: number, keptMs: number) => new Date(index < OLD ? now - keptMs - 1_000 : now);
    await bench.database.run((db) => db.delete(events));
    await bench.database.run((db) =>
      db.insert(idempotencyKeys).values(
        rows.map((index) => ({
          apiKeyId: 'key_a',
          key: `k-${index}`,
          requestHash: Buffer.alloc(32),
          responseStatus: 202,
          responseHeaders: {},
          encryptedResponseBody: Buffer.alloc(1),
          createdAt: at(index, sweep.answersKeptMs),
        })),
      ),
    );
    await bench.database.run((db) =>
      db.insert(events).values(
        rows.map((index) => ({
          id: newId('event'),
          position: BigInt(index + 1),
          type: 'order.held' as const,
          subjectKind: 'order' as const,
          subjectId: 'ord_1',
          data: {},
          occurredAt: at(index, sweep.eventsKeptMs),
        })),
      ),
    );
    const endpoint = {
      apiKeyId: 'key_a',
      ownerId: undefined,
      url: 'https://shop.example.com/hook',
      description: null,
      eventTypes: ['*'],
    };
    const { id: endpointId } = await bench.database.transaction((tx) =>
      addWebhookEndpoint(tx, bench.keyRing, endpoint, generateWebhookSecret(), new Date(now)),
    );
    await bench.database.run((db) =>
      db.insert(webhookDeliveries).values(
        rows.map((index) => ({
          id: newId('webhookDelivery'),
          endpointId,
          eventId: `evt_${index}`,
          state: 'failed' as const,
          triedSince: new Date(now),
          createdAt: new Date(now),
          endedAt: at(index, outbound.logKeptMs),
        })),
      ),
    );
    expect(await bench.activities.forgetOldAnswers()).toEqual({ forgotten: 3 * OLD });
    for (const table of [idempotencyKeys, events, webhookDeliveries])
      expect(await bench.database.run((db) => db.$count(table))).toBe(3);
    expect(await bench.activities.forgetOldAnswers()).toEqual({ forgotten: 0 });
  });
});
