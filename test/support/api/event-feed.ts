import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { events } from '#db/schema.ts';
import type { EventSubjectKind, EventType } from '#domain/events/event-types.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { madeUpEventPage } from '#test/support/work/made-up-events.ts';

/** Records and publishes events. @returns their ids. */
export async function announce(
  api: TestApi,
  types: readonly EventType[],
  more: { subjectId?: string; at?: number; apiKeyId?: string } = {},
): Promise<string[]> {
  for (const type of types) {
    const kind = type.split('.')[0] as EventSubjectKind;
    const event = {
      type,
      subject: { kind, id: more.subjectId ?? newId('order') },
      apiKeyId: more.apiKeyId ?? null,
      data: { status: type.split('.')[1] ?? null },
    };
    await api.database.transaction((tx) => recordEvent(tx, event, new Date(more.at ?? TEST_NOW)));
  }
  await api.publish();
  const rows = await api.database.run((db) =>
    db.select({ id: events.id, position: events.position }).from(events).orderBy(events.sequence),
  );
  return rows.slice(-types.length).map(({ id }) => id);
}

/** Records that an order is held, without publishing it. @returns the id of the event. */
export const recordHeld = (tx: Executor, id: string = newId('order')): Promise<string> =>
  recordEvent(tx, { type: 'order.held', subject: { kind: 'order', id }, apiKeyId: null, data: {} }, new Date(TEST_NOW));

export const feed = async (caller: HttpClient, query = '') =>
  (await caller.get(`/v1/events${query}`)).read(madeUpEventPage);

/** The present end of the feed. */
export const endOfFeed = async (caller: HttpClient) =>
  (await feed(caller, '?created_after=9990-01-01T00:00:00Z')).next_cursor;
