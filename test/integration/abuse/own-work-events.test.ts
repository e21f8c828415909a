/** OWASP API1:2023 (broken object level authorization): an own-work key and the events of another key. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { recordEvent } from '#db/events/event-log.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { named } from '#test/support/api/operations-without-id.ts';
import { startWithTwoKeys } from '#test/support/api/two-keys.ts';
import { waitingCallers } from '#test/support/api/waits.ts';
import { TEST_NOW } from '#test/support/network/api.ts';
import { readStream, type StreamReader } from '#test/support/network/event-stream.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const { api, limited, other } = await startWithTwoKeys();
afterAll(() => api[Symbol.asyncDispose]());

describe('the events of two keys', () => {
  const subjectsOf = (found: readonly unknown[]) =>
    z
      .array(z.object({ subject: z.object({ id: z.string() }) }))
      .parse(found)
      .map(({ subject }) => subject.id);
  const streamed = async (reader: StreamReader, count: number) =>
    subjectsOf((await reader.next(count)).map(({ data }) => data));
  const page = async (client: HttpClient, query: string) =>
    subjectsOf(z.array(z.unknown()).parse((await client.get(`/v1/events?limit=100&${query}`)).at('data')));
  const stream = (client: HttpClient, query = '', headers: Record<string, string> = {}) =>
    readStream(client, `/v1/events/stream${query}`, headers);
  /** The end of the feed after all events are published. */
  async function end(): Promise<string> {
    await api.publish();
    return (await limited.get('/v1/events?created_after=9990-01-01T00:00:00Z')).textAt('next_cursor');
  }
  const order = async (client: HttpClient) =>
    (await postOnce(client, '/v1/orders', { package_id: 101, external_order_id: randomUUID() })).textAt('id');

  /**
   * Creates orders of both keys and events of the account in turn, so each wrong event would be among the expected
   * ones.
   */
  async function happen(): Promise<{ mine: string[]; theirs: string[] }> {
    const [mine, theirs]: [string[], string[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      theirs.push(await order(other));
      const accountEvent = {
        type: 'wallet.balance_low',
        subject: { kind: 'wallet', id: 'wallet' },
        apiKeyId: null,
        data: { balance: '98.76' },
      } as const;
      await api.database.transaction((tx) => recordEvent(tx, accountEvent, new Date(TEST_NOW)));
      mine.push(await order(limited));
    }
    theirs.push(await order(other));
    mine.push(await order(limited));
    await api.publish();
    return { mine, theirs };
  }

  it('are returned by two calls, and this test covers both', () => {
    expect(named(api, 'own events').map(({ id }) => id)).toEqual(['listEvents', 'streamEvents']);
  });

  it('reach in the stream only their own key, live and after a resumption', async () => {
    const from = await end();
    const live = [await stream(limited), await stream(other)] as const;
    for (const reader of live) await waitFor('it has caught up', () => reader.comments() > 0);
    const { mine, theirs } = await happen();
    const later = [
      await stream(limited, '', { 'Last-Event-ID': from }),
      await stream(other, `?cursor=${from}`),
    ] as const;
    for (const [mineTold, theirsTold] of [live, later]) {
      expect(await streamed(mineTold, mine.length)).toEqual(mine);
      expect(await streamed(theirsTold, theirs.length)).toEqual(theirs);
    }
    for (const reader of [...live, ...later]) reader.close();
  });

  it('of another key do not reach a filtered stream, whose cursor passes them', async () => {
    const from = await end();
    const { theirs } = await happen();
    const last = await end();
    const reader = await stream(limited, `?subject_id=${theirs[0]}`, { 'Last-Event-ID': from });
    await waitFor('it is past them', () => reader.lastEventId() === last);
    expect(reader.received()).toBe(0);
    reader.close();
    const allowed = await stream(other, `?subject_id=${theirs[0]}`, { 'Last-Event-ID': from });
    expect(await streamed(allowed, 1)).toEqual(theirs.slice(0, 1));
    allowed.close();
  });

  it('appear in the feed of their own key only, and no others end its wait', async () => {
    const from = await end();
    const answering = page(limited, `wait=30&cursor=${from}`);
    const otherAnswering = page(other, `wait=30&cursor=${from}`);
    await waitFor('both wait', async () => (await waitingCallers(limited)) === 2);
    const first = await order(other);
    await api.publish();
    expect(await otherAnswering).toEqual([first]);
    expect(await waitingCallers(limited)).toBe(1);
    const own = await order(limited);
    await api.publish();
    expect(await answering).toEqual([own]);

    const { mine, theirs } = await happen();
    expect(await page(limited, `cursor=${from}`)).toEqual([own, ...mine]);
    expect(await page(other, `cursor=${from}&wait=1`)).toEqual([first, ...theirs]);
    expect(await page(limited, `cursor=${from}&subject_id=${theirs[0]}`)).toEqual([]);
    expect(await page(limited, `cursor=${from}&type=wallet.*`)).toEqual([]);
    expect(await page(await api.caller(), `cursor=${from}&type=wallet.*`)).toHaveLength(3);
  });
});
