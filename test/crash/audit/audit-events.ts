/** Invariants of the events of a seed: each is published once and in order, and delivered to its subscriber. */
import { asc } from 'drizzle-orm';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import type { EventRow } from '#db/events/event-log.ts';
import { events, webhookDeliveries } from '#db/schema.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import type { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { keyRingOf } from '#test/support/servers/stack-temporal.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** The lease of a killed worker lasts some seconds. A sweeper that was killed with it runs again after a minute. */
const DELIVERED_WITHIN_MS = 90_000;

export async function listenToEvents(stack: Stack, receiver: WebhookReceiver): Promise<void> {
  const endpoint = { apiKeyId: 'crash', ownerId: undefined, url: receiver.url, description: null, eventTypes: ['*'] };
  await stack.database.transaction((tx) =>
    addWebhookEndpoint(tx, keyRingOf(stack), endpoint, generateWebhookSecret(), new Date()),
  );
}

/** Waits until all events are published and delivered. @returns what is not so. */
export async function auditEvents(stack: Stack, receiver: WebhookReceiver): Promise<string[]> {
  return remaining('every event is published and delivered', DELIVERED_WITHIN_MS, async () => {
    const { announced, deliveries } = await stack.database.run(async (db) => ({
      announced: await db.select().from(events).orderBy(asc(events.sequence)),
      deliveries: await db.select().from(webhookDeliveries),
    }));
    return [...orderOf(announced), ...arrivals(announced, deliveries, new Set(receiver.ids))];
  });
}

/** Waits until there are no violations. @returns those that remain after the time. */
export async function remaining(what: string, timeoutMs: number, look: () => Promise<string[]>): Promise<string[]> {
  return waitFor(what, async () => (await look()).length === 0, { timeoutMs }).then(() => [], look);
}

/** Positions start at 1 and have no gaps. The events of one subject are in the order of their creation. */
function orderOf(announced: readonly EventRow[]): string[] {
  const positions = announced.map(({ position }) => position).filter((position) => position !== null);
  const problems = announced
    .filter(({ position }) => position === null)
    .map(({ id, type }) => `event ${id} (${type}) was never published`);
  const sorted = positions.toSorted((left, right) => (left < right ? -1 : 1));
  if (sorted.some((position, index) => position !== BigInt(index + 1)))
    problems.push(`the positions of events have gaps or repeat: ${sorted.join(',')}`);
  for (const [subject, ofSubject] of Map.groupBy(announced, ({ subjectId }) => subjectId)) {
    const places = ofSubject.flatMap(({ position }) => position ?? []);
    if (places.some((place, index) => index > 0 && place <= (places[index - 1] ?? 0n)))
      problems.push(`events of ${subject} were published out of order`);
  }
  return problems;
}

function arrivals(
  announced: readonly EventRow[],
  deliveries: readonly (typeof webhookDeliveries.$inferSelect)[],
  received: ReadonlySet<string>,
): string[] {
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  return announced.flatMap(({ id, type }) => {
    const states = (byEvent.get(id) ?? []).map(({ state }) => state);
    return [
      ...(states.length === 1 && states[0] === 'delivered'
        ? []
        : [`event ${id} (${type}) was queued ${states.length} times: ${states.join(', ')}`]),
      ...(received.has(id) ? [] : [`event ${id} (${type}) never reached its receiver`]),
    ];
  });
}
