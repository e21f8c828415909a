/** OWASP API1:2023 (broken object level authorization): an own-work key and the events of another key. */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { recordEvent } from '#db/events/event-log.ts';
import { endOfFeed, feed } from '#test/support/api/event-feed.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { named } from '#test/support/api/operations-without-id.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { startWithTwoKeys } from '#test/support/api/two-keys.ts';
import { waitingCallers } from '#test/support/api/waiting-calls.ts';
import { TEST_NOW } from '#test/support/network/api.ts';
import { readStream, type StreamReader } from '#test/support/network/event-stream.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { madeUpEvent } from '#test/support/work/made-up-events.ts';

const { api, limited, other } = await startWithTwoKeys();
afterAll(() => api[Symbol.asyncDispose]());

describe('the events of two keys', () => {
  const streamed = async (reader: StreamReader, count: number) =>
    (await reader.next(count)).map(({ data }) => madeUpEvent.parse(data).subject.id);
  const page = async (client: HttpClient, query: string) =>
    (await feed(client, `?limit=100&${query}`)).data.map(({ subject }) => subject.id);
  const stream = async (client: HttpClient, query = '', headers: Record<string, string> = {}) => {
    const reader = await readStream(client, `/v1/events/stream${query}`, headers);
    onTestFinished(() => void reader.close());
    return reader;
  };
  /** The end of the feed after all events are published. */
  async function end(): Promise<string> {
    await api.publish();
    return endOfFeed(limited);
  }
  const order = async (client: HttpClient) => (await postOnce(client, '/v1/orders', orderInput())).textAt('id');

  /**
   * Creates orders of both keys and events of the account in turn, so each wrong event would be among the expected
   * ones.
   */
  async function happen(): Promise<{ mine: string[]; theirs: string[] }> {
    const [mine, theirs]: [string[], string[]] = [[], []];
    const wallet = { subject: { kind: 'wallet', id: 'wallet' }, apiKeyId: null, data: { balance: '98.76' } } as const;
    const accountEvent = { type: 'wallet.balance_low', ...wallet } as const;
    for (let round = 0; round < 3; round += 1) {
      theirs.push(await order(other));
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
    const resumed = await stream(limited, '', { 'Last-Event-ID': from });
    const later = [resumed, await stream(other, `?cursor=${from}`)] as const;
    for (const [mineTold, theirsTold] of [live, later]) {
      expect(await streamed(mineTold, mine.length)).toEqual(mine);
      expect(await streamed(theirsTold, theirs.length)).toEqual(theirs);
    }
  });

  it('of another key do not reach a filtered stream, whose cursor passes them', async () => {
    const from = await end();
    const { theirs } = await happen();
    const last = await end();
    const reader = await stream(limited, `?subject_id=${theirs[0]}`, { 'Last-Event-ID': from });
    await waitFor('it is past them', () => reader.lastEventId() === last);
    expect(reader.received()).toBe(0);
    const allowed = await stream(other, `?subject_id=${theirs[0]}`, { 'Last-Event-ID': from });
    expect(await streamed(allowed, 1)).toEqual(theirs.slice(0, 1));
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
