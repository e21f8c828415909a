import { describe, expect, it } from 'vitest';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import { webhookEndpoints } from '#db/schema.ts';
import type { TryOutcome } from '#domain/events/webhook-delivery.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { recorded, twiceOver, type ActivityCall } from '#test/support/work/activities/twice.ts';
import { WebhookBench } from '#test/support/work/webhook-sending.ts';

const bench = await WebhookBench.start();

describe('a delivered event', () => {
  it('is verified by the published library, and contains the event type and the address of its subject', async () => {
    const secret = generateWebhookSecret();
    const id = await bench.endpoint(secret);
    const [eventId] = await bench.happen();
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    const received = bench.receiver.received[0]!;
    expect(WebhookReceiver.verified(received, secret)).toMatchObject({
      type: 'order.completed',
      timestamp: bench.now.toISOString(),
      id: eventId,
      subject: { kind: 'order', href: expect.stringMatching(/^\/v1\/orders\/ord_/) },
      data: { external_order_id: 'A-1' },
    });
    expect(received.headers).toMatchObject({
      'webhook-id': eventId,
      'content-type': 'application/json; charset=utf-8',
    });
    const withOther = () => WebhookReceiver.verified(received, generateWebhookSecret());
    expect(withOther).toThrow('No matching signature');
    expect(await bench.states()).toEqual(['delivered']);
  });

  it('is sent once when the activity runs repeatedly', async () => {
    const id = await bench.endpoint();
    await bench.happen(30);
    const calls: ActivityCall[] = [];
    const own = recorded(bench.activities(), calls, async () => Promise.resolve());
    const state = async () => [
      await bench.deliveries(),
      await bench.tries(),
      await bench.database.run((db) => db.select().from(webhookEndpoints)),
      bench.receiver.ids.length,
    ];
    const { twice } = twiceOver({ calls: () => calls, state });
    const results = await twice('deliverDue', () => own.deliverDue({ endpointId: id }));
    expect(results).toEqual([{ kind: 'idle' }, { kind: 'idle' }]);
    expect([new Set(bench.receiver.ids).size, bench.receiver.ids.length]).toEqual([30, 30]);
  });

  it('is sent once by concurrent workers', async () => {
    const id = await bench.endpoint();
    await bench.happen(40);
    await Promise.all([bench.round(id), bench.round(id), bench.round(id)]);
    expect([new Set(bench.receiver.ids).size, bench.receiver.ids.length]).toEqual([40, 40]);
  });

  it('keeps the answer, encrypted and truncated', async () => {
    const id = await bench.endpoint();
    bench.receiver.otherwise = (_request, response) => response.end('x'.repeat(5_000));
    await bench.happen();
    await bench.round(id);
    const [only] = await bench.tries();
    expect(only).toMatchObject({ number: 1, status: 200, failure: null });
    expect(only!.encryptedExcerpt!.includes('xxxx')).toBe(false);
    expect(bench.keyRing.decryptText(only!.encryptedExcerpt!, excerptAad(only!))).toBe('x'.repeat(1_024));
  });
});

describe('a worker that dies between a send and its record', () => {
  it('causes a second send with the same id and body after its lease, not before', async () => {
    const id = await bench.endpoint();
    const [eventId] = await bench.happen();
    const died = bench.activities({
      courier: async (request) => {
        await bench.sender.deliver(request);
        throw new Error('killed');
      },
    });
    await expect(died.deliverDue({ endpointId: id })).rejects.toThrow('killed');
    expect([bench.receiver.ids, await bench.tries()]).toEqual([[eventId], []]);
    expect(await bench.round(id)).toMatchObject({
      kind: 'waiting',
      nextAt: bench.clock.now + DEFAULT_POLICY.outbound.leaseMs,
      pending: 1,
    });
    bench.clock.now += DEFAULT_POLICY.outbound.leaseMs;
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect(bench.receiver.ids).toEqual([eventId, eventId]);
    expect(bench.receiver.received[1]!.bytes.equals(bench.receiver.received[0]!.bytes)).toBe(true);
  });

  /** A try whose result comes after the end of its lease, when another worker has tried. @returns to let it end. */
  async function overtakenTry(outcome: TryOutcome, status: number) {
    const id = await bench.endpoint();
    await bench.happen();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const courier = async () => {
      reached.resolve();
      await goOn.promise;
      return { outcome, excerpt: Buffer.alloc(0) };
    };
    // A second lane could claim the delivery itself after the end of the lease.
    const slow = bench.activities({ courier }, { lanes: 1 }).deliverDue({ endpointId: id });
    await reached.promise;
    bench.clock.now += DEFAULT_POLICY.outbound.leaseMs;
    bench.receiver.otherwise = status;
    await bench.round(id);
    return async () => {
      goOn.resolve();
      await slow;
    };
  }

  it('is replaced by the next worker, and its late result changes nothing', async () => {
    const end = await overtakenTry({ kind: 'no_answer', failure: 'timeout' }, 204);
    expect(await bench.states()).toEqual(['delivered']);
    await end();
    expect(await bench.states()).toEqual(['delivered']);
    expect(await bench.tries()).toHaveLength(2);
  });

  it('is replaced by the next worker, and its late success counts, also after the delivery was given up', async () => {
    const end = await overtakenTry({ kind: 'answered', status: 204 }, 410);
    expect(await bench.states()).toEqual(['failed']);
    await end();
    expect(await bench.states()).toEqual(['delivered']);
  });
});
