import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { forgetEvents } from '#db/events/event-queries.ts';
import { events } from '#db/schema.ts';
import type { EventType } from '#domain/events/event-types.ts';
import { announce as announceIn, feed as feedOf, recordHeld } from '#test/support/api/event-feed.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { madeUpEvent } from '#test/support/work/made-up-events.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();
beforeEach(async () => {
  await api.database.run((db) => db.delete(events));
});

const announce = (types: readonly EventType[], more?: Parameters<typeof announceIn>[2]) => announceIn(api, types, more);
const feed = (query?: string) => feedOf(caller, query);
const ids = (page: { data: readonly { id: string }[] }) => page.data.map(({ id }) => id);

describe('the event feed', () => {
  it('is read to its end and continued later, without gaps and duplicates', async () => {
    const first = await announce([
      'order.accepted',
      'order.processing',
      'order.completed',
      'topup.accepted',
      'wallet.balance_low',
    ]);
    const one = await feed('?limit=2');
    const two = await feed(`?limit=2&cursor=${one.next_cursor}`);
    const three = await feed(`?limit=2&cursor=${two.next_cursor}`);
    expect([one, two, three].map(({ has_more }) => has_more)).toEqual([true, true, false]);
    expect([...ids(one), ...ids(two), ...ids(three)]).toEqual(first);
    const none = await feed(`?cursor=${three.next_cursor}`);
    expect(none).toEqual({ data: [], next_cursor: three.next_cursor, has_more: false });
    const later = await announce(['refund.completed']);
    expect(ids(await feed(`?cursor=${none.next_cursor}`))).toEqual(later);
  });

  it('returns an event in the form of its schema, also as a single event', async () => {
    const [id = ''] = await announce(['order.held'], { subjectId: 'ord_1' });
    const event = (await caller.get(`/v1/events/${id}`)).read(madeUpEvent);
    expect((await feed()).data).toEqual([event]);
    expect(event).toEqual({
      id,
      type: 'order.held',
      created_at: new Date(TEST_NOW).toISOString(),
      subject: { kind: 'order', id: 'ord_1', href: '/v1/orders/ord_1' },
      data: { status: 'held' },
    });
    expect((await caller.get(`/v1/events/${newId('event')}`)).at('code')).toBe('event_not_found');
    expect((await caller.get('/v1/events/1')).at('code')).toBe('event_not_found');
  });

  it('hides unpublished events, because a later commit could precede them', async () => {
    await api.database.transaction((tx) => recordHeld(tx));
    expect((await feed()).data).toEqual([]);
    await api.publish();
    expect((await feed()).data).toHaveLength(1);
  });

  it('from a time on begins before its first position, also if more than 1,000 events share one instant', async () => {
    const at = (position: number, ms: number) => ({
      id: newId('event'),
      position: BigInt(position),
      type: 'order.held' as const,
      subjectKind: 'order' as const,
      subjectId: 'ord_1',
      data: {},
      occurredAt: new Date(TEST_NOW + ms),
    });
    const later = at(2, 60_000);
    const same = Array.from({ length: 1_001 }, (_, index) => at(index + 3, 0));
    await api.database.run((db) => db.insert(events).values([at(1, -1), later, ...same]));
    const page = await feed(`?limit=2&created_after=${new Date(TEST_NOW - 1).toISOString()}`);
    expect(ids(page)).toEqual([later.id, same[0]?.id]);
  });

  it.each([
    ['type=order.bought', 'type'],
    ['subject_kind=topup&type=order.*', 'type'],
    ['wait=9999', 'wait'],
  ])('refuses %s with the name of the field', async (query, field) => {
    const answer = await caller.get(`/v1/events?${query}`);
    expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, field]);
  });
});

describe('deleted events', () => {
  const DAY = 86_400_000;
  const forget = (before: number, batch = 100) =>
    api.database.run((db) => forgetEvents(db, { before: new Date(before), batch }));

  it('are the oldest, are deleted in batches, and make earlier cursors expire', async () => {
    await announce(['order.accepted', 'order.processing', 'order.completed'], { at: TEST_NOW - 2 * DAY });
    const [kept] = await announce(['order.held'], { at: TEST_NOW });
    const one = await feed('?limit=1');
    const three = await feed('?limit=3');
    expect(await forget(TEST_NOW - DAY, 2)).toBe(2);
    expect(await forget(TEST_NOW - DAY, 2)).toBe(1);
    expect(await forget(TEST_NOW - DAY, 2)).toBe(0);
    const refused = await caller.get(`/v1/events?cursor=${one.next_cursor}`);
    expect([refused.status, refused.at('code')]).toEqual([410, 'cursor_expired']);
    const stream = await caller.get('/v1/events/stream', { headers: { 'Last-Event-ID': one.next_cursor } });
    expect(stream.at('code')).toBe('cursor_expired');
    // A reader that has received all of them misses nothing.
    expect(ids(await feed(`?cursor=${three.next_cursor}`))).toEqual([kept]);
    expect(ids(await feed())).toEqual([kept]);
  });

  it('expire no cursor after them, for any filter', async () => {
    await announce(['order.accepted', 'order.processing', 'order.completed'], { at: TEST_NOW - 2 * DAY });
    const { next_cursor: cursor, ...none } = await feed('?type=wallet.*');
    expect(none).toEqual({ data: [], has_more: false });
    await announce(['order.held'], { at: TEST_NOW });
    await forget(TEST_NOW - DAY);
    const [low] = await announce(['wallet.balance_low'], { at: TEST_NOW });
    expect(ids(await feed(`?type=wallet.*&cursor=${cursor}`))).toEqual([low]);
  });

  it('never include the newest, because positions continue from it', async () => {
    await announce(['order.accepted', 'order.held'], { at: TEST_NOW - 2 * DAY });
    const { next_cursor: cursor } = await feed();
    expect(await forget(TEST_NOW)).toBe(1);
    const [next] = await announce(['order.failed']);
    expect(ids(await feed(`?cursor=${cursor}`))).toEqual([next]);
  });

  it('leave no gap when times are out of order', async () => {
    await announce(['order.accepted'], { at: TEST_NOW - 2 * DAY });
    const [young] = await announce(['order.held'], { at: TEST_NOW });
    const [old] = await announce(['order.processing'], { at: TEST_NOW - 2 * DAY });
    await announce(['order.failed'], { at: TEST_NOW });
    expect(await forget(TEST_NOW - DAY)).toBe(1);
    expect(ids(await feed()).slice(0, 2)).toEqual([young, old]);
  });

  it('make a cursor beyond the end expire, for example after a restored backup', async () => {
    await announce(['order.accepted', 'order.held']);
    const { next_cursor: cursor } = await feed();
    await api.database.run((db) => db.delete(events));
    await announce(['order.accepted']);
    const refused = await caller.get(`/v1/events?cursor=${cursor}`);
    expect(refused.at('code')).toBe('cursor_expired');
    expect(refused.textAt('detail')).toContain('has not reached this position');
  });

  it('cause a validation error for a foreign cursor, with its place', async () => {
    const foreign = Buffer.from('t.1').toString('base64url');
    const errors = [{ in: 'query', field: 'cursor', message: 'is not a cursor of this list' }];
    expect((await caller.get(`/v1/events?cursor=${foreign}`)).at('errors')).toEqual(errors);
    expect((await caller.get(`/v1/events/stream?cursor=${foreign}`)).at('errors')).toEqual(errors);
    const inHeader = await caller.get('/v1/events/stream', { headers: { 'Last-Event-ID': foreign } });
    const ofHeader = { ...errors[0], in: 'header', field: 'Last-Event-ID' };
    expect([inHeader.status, inHeader.at('errors')]).toEqual([400, [ofHeader]]);
  });
});
