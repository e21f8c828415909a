import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { apiKeys } from '#db/schema.ts';
import { announce, endOfFeed, feed } from '#test/support/api/event-feed.ts';
import { newKey } from '#test/support/api/keys.ts';
import { waitHeaders, waitingCallers } from '#test/support/api/waiting-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { madeUpEventPage } from '#test/support/work/made-up-events.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

describe('a waiting read of the feed', () => {
  it('returns on the first event that its filter selects, and on no other', async () => {
    const cursor = await endOfFeed(caller);
    const answered = feed(caller, `?wait=30&type=order.*&cursor=${cursor}`);
    await waitFor('the caller waits', async () => (await waitingCallers(caller)) === 1);
    await announce(api, ['topup.accepted']);
    const [id] = await announce(api, ['order.held']);
    expect((await answered).data).toMatchObject([{ id }]);
    expect(await waitingCallers(caller)).toBe(0);
  });

  it('returns an empty page with the same cursor at the end of its wait', async () => {
    const cursor = await endOfFeed(caller);
    const answer = await caller.get(`/v1/events?wait=1&cursor=${cursor}`);
    expect(answer.read(madeUpEventPage)).toEqual({ data: [], next_cursor: cursor, has_more: false });
    expect(waitHeaders(answer)).toEqual(['wait=1', null]);
    expect(waitHeaders(await caller.get(`/v1/events?cursor=${cursor}`))).toEqual([null, null]);
  });

  it('sends Retry-After when it did not wait and has no events', async () => {
    await using stopped = await startTestApi();
    const by = await stopped.caller();
    await stopped.tail.stop();
    expect(waitHeaders(await by.get('/v1/events?wait=30'))).toEqual([null, '5']);
    await announce(stopped, ['order.held']);
    expect(waitHeaders(await by.get('/v1/events?wait=30'))).toEqual([null, null]);
  });
});

describe('a waiting read with a key revoked meanwhile', () => {
  it('returns no later event', async () => {
    const { id, client: other } = await newKey(api, { scopes: ['events:read'] });
    const cursor = await endOfFeed(caller);
    const answered = other.get(`/v1/events?wait=30&cursor=${cursor}`);
    await waitFor('the caller waits', async () => (await waitingCallers(caller)) === 1);
    const since = performance.now();
    const revokedAt = new Date(TEST_NOW - 1);
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt }).where(eq(apiKeys.id, id)));
    await waitFor('it has waited for a while', () => performance.now() - since > 600);
    await announce(api, ['order.held']);
    const answer = await answered;
    expect([answer.status, answer.at('code')]).toEqual([401, 'unauthenticated']);
  });
});
