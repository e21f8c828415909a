import { eq, inArray } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { forgetDeliveries } from '#db/events/webhook-deliveries.ts';
import { events, webhookEndpoints } from '#db/schema.ts';
import { endpointOutlook } from '#fulfilment/event-webhooks/claim-delivery.ts';
import {
  queueMissed,
  replayDelivery,
  replayRange,
  wakeOverdueEndpoints,
} from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { deleteWebhookEndpoint, disableWebhookEndpoint } from '#fulfilment/event-webhooks/record-try.ts';
import { shownGauges } from '#test/support/shown-gauges.ts';
import { DAY, WebhookBench } from '#test/support/work/webhook-sending.ts';

const bench = await WebhookBench.start();
const disable = (id: string) =>
  bench.database.transaction((tx) => disableWebhookEndpoint(tx, id, 'request', bench.now));

describe('the gauges of event webhooks', () => {
  const shown = async () => {
    const body = await shownGauges(bench.database, bench.clock.now);
    return Object.fromEntries(
      [...body.matchAll(/^reseller_outbound_(endpoints|pending|failing_seconds)(?:\{state="(\w+)"\})? (\S+)$/gm)]
        .map(([, name, state, value]) => [[name, state].filter(Boolean).join(' '), Number(value)] as const)
        .filter(([, value]) => value !== 0),
    );
  };

  it('show endpoints and waiting deliveries by the state of the endpoint, and how long one has failed', async () => {
    const [id, disabled] = [await bench.endpoint(), await bench.endpoint(), await bench.endpoint()];
    await disable(disabled);
    expect(await shown()).toEqual({ 'endpoints receiving': 2, 'endpoints disabled': 1 });
    bench.receiver.answers.push(500, 410);
    await bench.happen(2);
    await bench.round(id, { lanes: 1, failingAfter: 1 });
    bench.clock.now += 7_200_000;
    expect(await shown()).toEqual({
      'endpoints receiving': 1,
      'endpoints failing': 1,
      'endpoints disabled': 1,
      'pending receiving': 2,
      'pending failing': 2,
      failing_seconds: 7_200,
    });
    await bench.round(id);
    expect(await shown()).toEqual({
      'endpoints receiving': 1,
      'endpoints disabled': 1,
      'endpoints given_up': 1,
      'pending receiving': 2,
    });
  });
});

describe('missed events of an endpoint', () => {
  /** Publishes events while the endpoint is disabled, and then enables it with a replay of them. */
  async function missing(count: number): Promise<{ id: string; missed: string[] }> {
    const id = await bench.endpoint();
    const since = bench.now;
    const set = (state: Partial<typeof webhookEndpoints.$inferInsert>) =>
      bench.database.run((db) => db.update(webhookEndpoints).set(state));
    await set({ disabledAt: since, disabledReason: 'request', missedSince: null });
    const missed: string[] = [];
    for (let n = 0; n < count; n += 1) {
      missed.push(...(await bench.happen()));
      bench.clock.now += 1;
    }
    await set({ disabledAt: null, disabledReason: null, missedSince: since });
    return { id, missed };
  }

  it('are queued in portions, oldest first, until none remain', async () => {
    const { id, missed } = await missing(7);
    const queue = async () => {
      await bench.database.transaction((tx) => queueMissed(tx, id, { limit: 3, now: bench.now }));
      const left = (await bench.endpointRow(id)).missedSince;
      return [
        (await bench.deliveries()).map(({ eventId }) => missed.indexOf(eventId)).toSorted((one, other) => one - other),
        left && bench.clock.now - left.getTime(),
      ];
    };
    expect(await queue()).toEqual([[0, 1, 2], 4]);
    expect(await queue()).toEqual([[0, 1, 2, 3, 4, 5], 1]);
    expect(await queue()).toEqual([[0, 1, 2, 3, 4, 5, 6], null]);
    expect(await queue()).toEqual([[0, 1, 2, 3, 4, 5, 6], null]);
  });

  it('are queued and sent by the rounds of the workflow, which stays open until then', async () => {
    const { id, missed } = await missing(7);
    expect(await bench.database.run((db) => endpointOutlook(db, id))).toMatchObject({
      kind: 'open',
      pending: 0,
      nextAt: new Date(bench.clock.now - 7),
    });
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect(bench.receiver.ids.toSorted((one, other) => missed.indexOf(one) - missed.indexOf(other))).toEqual(missed);
    expect(await bench.endpointRow(id)).toMatchObject({ missedSince: null });
  });
});

describe('a replay of all events', () => {
  it('queues each of them once, also when more events share an instant than one piece has', async () => {
    const id = await bench.endpoint();
    const start = bench.now;
    for (const count of [2, 5, 1]) {
      await bench.happen(count);
      bench.clock.now += 1;
    }
    const endpoint = await bench.endpointRow(id);
    const replay = (since: Date) =>
      bench.database.transaction((tx) =>
        replayRange(tx, endpoint, { which: 'all', since }, { limit: 3, now: bench.now }),
      );
    const pieces = [await replay(start)];
    for (let next = pieces[0]?.nextSince; next !== undefined && pieces.length < 8; next = pieces.at(-1)?.nextSince)
      pieces.push(await replay(next));
    expect(pieces).toMatchObject([{ queued: 2 }, { queued: 5 }, { queued: 1, nextSince: undefined }]);
  });
});

describe('deliveries to an endpoint', () => {
  it('fail when it is disabled or deleted, and can be replayed', async () => {
    const id = await bench.endpoint();
    await bench.happen(3);
    await disable(id);
    expect(await bench.round(id)).toEqual({ kind: 'ended', reason: 'disabled' });
    expect([await bench.states(), bench.receiver.received]).toEqual([['failed', 'failed', 'failed'], []]);
    await bench.database.run((db) => db.update(webhookEndpoints).set({ disabledAt: null, disabledReason: null }));
    const row = await bench.endpointRow(id);
    const range = { which: 'missed', since: bench.now } as const;
    await bench.database.transaction((tx) => replayRange(tx, row, range, { limit: 100, now: bench.now }));
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect(bench.receiver.received).toHaveLength(3);
    await bench.happen();
    await bench.database.transaction((tx) => deleteWebhookEndpoint(tx, id, bench.now));
    expect(await bench.round(id)).toEqual({ kind: 'ended', reason: 'deleted' });
    expect(bench.receiver.received).toHaveLength(3);
  });

  it('and missed events are found once by the sweep when the workflow was lost', async () => {
    const [id, missing] = [await bench.endpoint(), await bench.endpoint()];
    const misses = { missedSince: bench.now, eventTypes: [] };
    await bench.database.run((db) => db.update(webhookEndpoints).set(misses).where(eq(webhookEndpoints.id, missing)));
    await bench.happen();
    await bench.database.run((db) => db.update(webhookEndpoints).set({ wakesSent: webhookEndpoints.wakesRequested }));
    const look = (ms: number) =>
      bench.database.transaction((tx) => wakeOverdueEndpoints(tx, { before: new Date(bench.clock.now + ms) }));
    // Missed events are queued at once.
    expect([await look(-60_000), await look(0), await look(0)]).toEqual([1, 1, 0]);
    for (const each of [id, missing]) expect(await bench.endpointRow(each)).toMatchObject({ wakeIsUrgent: true });
  });

  it('fail without their deleted event, block nothing, and cannot be replayed', async () => {
    const id = await bench.endpoint();
    const [first, second] = await bench.happen(4);
    await bench.database.run((db) => db.delete(events).where(inArray(events.id, [first!, second!])));
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect(bench.receiver.received).toHaveLength(2);
    const rows = await bench.deliveries();
    expect(rows.filter(({ eventId }) => eventId === first || eventId === second)).toMatchObject([
      { state: 'failed', endedAt: bench.now },
      { state: 'failed' },
    ]);
    const endpoint = await bench.endpointRow(id);
    const again = (eventId: string) => {
      const delivery = rows.find((row) => row.eventId === eventId)!;
      return bench.database.transaction((tx) => replayDelivery(tx, endpoint, delivery.id, bench.now));
    };
    expect([await again(first!), await again(bench.receiver.ids[0]!)]).toEqual([false, true]);
  });

  it('are deleted with their tries long after their end, unless they are pending', async () => {
    const id = await bench.endpoint();
    await bench.happen(2);
    bench.receiver.answers.push(200, 500);
    await bench.round(id, { lanes: 1 });
    const forget = () =>
      bench.database.run((db) => forgetDeliveries(db, { before: new Date(bench.clock.now + DAY), batch: 10 }));
    expect([await forget(), await forget()]).toEqual([1, 0]);
    expect([await bench.states(), (await bench.tries()).length]).toEqual([['pending'], 1]);
  });
});
