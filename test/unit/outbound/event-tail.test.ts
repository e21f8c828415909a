import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { PublishedEvent } from '#db/events/event-log.ts';
import { EventTail } from '#outbound/event-tail.ts';
import { createLogger } from '#telemetry/logger.ts';
import { waitFor } from '#test/support/wait-for.ts';

const logger = createLogger({ level: 'silent', name: 'test', secrets: [] });
/** Positions of the published events. */
let published: bigint[];
type Read = (after: bigint) => Promise<PublishedEvent[]>;
let read: Mock<Read>;
let tail: EventTail;
let wake: () => void;

beforeEach(async () => {
  published = [1n, 2n];
  read = vi.fn<Read>(async (after) => {
    const later = published.filter((position) => position > after);
    return later.map((position) => ({ position, subjectId: 'x' }) as PublishedEvent);
  });
  let woken = Promise.withResolvers<void>();
  wake = () => woken.resolve();
  const wakeups = {
    next: async () => {
      await woken.promise;
      woken = Promise.withResolvers();
    },
    wake,
    pause: () => turn(),
    isHearing: () => true,
  };
  const policy = { pollMs: 1_000, pollMaxMs: 2_000 };
  tail = new EventTail({ read, lastPosition: async () => published.at(-1) ?? 0n, wakeups, policy, logger });
  await tail.open();
  // The loop looks once when it starts.
  await waitFor('it has looked', () => read.mock.calls.length === 1);
  read.mockClear();
});
afterEach(() => tail.stop());

const publish = (...positions: readonly bigint[]) => void published.push(...positions);
const listen = (subjectId?: string) => {
  const seen: bigint[] = [];
  const onStop = vi.fn<() => void>();
  const stop = tail.listen({
    ...(subjectId !== undefined && { subjectId }),
    onEvent: ({ position }) => seen.push(position),
    onStop,
  });
  return { seen, stop, onStop };
};

describe('the event tail', () => {
  it('reads nothing while nobody listens, and knows the newest position from the notification', async () => {
    publish(3n, 4n);
    tail.hear('4');
    await vi.waitFor(() => expect(tail.position).toBe(4n));
    expect(read).not.toHaveBeenCalled();
  });

  it.each([undefined, 'x'])('passes each later event to a listener once, after a time without one: %s', async (of) => {
    publish(3n);
    tail.hear('3');
    await vi.waitFor(() => expect(tail.position).toBe(3n));
    const { seen, stop } = listen(of);
    publish(4n);
    tail.hear('4');
    publish(5n);
    tail.hear('5');
    await vi.waitFor(() => expect(seen).toEqual([4n, 5n]));
    stop();
    publish(6n);
    tail.hear('6');
    await vi.waitFor(() => expect(tail.position).toBe(6n));
    expect(seen).toEqual([4n, 5n]);
  });

  it('misses no event of a listener that begins between the notification and its turn', async () => {
    publish(3n);
    tail.hear('3');
    const { seen } = listen();
    await vi.waitFor(() => expect(seen).toEqual([3n]));
  });

  it.each([
    ['a notification without a position', () => tail.hear('')],
    ['the poll, whose notification was lost', () => wake()],
  ])('reads the events after %s', async (_, cause) => {
    publish(3n);
    cause();
    await vi.waitFor(() => expect(tail.position).toBe(3n));
    expect(read).toHaveBeenCalledOnce();
  });
});

describe('the event tail, after PostgreSQL has lost events', () => {
  const lose = (...positions: readonly bigint[]) => {
    published = published.filter((position) => !positions.includes(position));
  };

  it.each([
    ['the poll', [], () => wake()],
    ['a notification without a position', [], () => tail.hear('')],
    ['the notification of another event at a lost position', [3n], () => tail.hear('3')],
  ])('ends its listeners at %s, and passes on later events at these positions', async (_, others, cause) => {
    const { seen, onStop } = listen();
    publish(3n, 4n, 5n);
    tail.hear('5');
    await vi.waitFor(() => expect(seen).toEqual([3n, 4n, 5n]));
    expect(onStop).not.toHaveBeenCalled();
    lose(3n, 4n, 5n);
    publish(...others);
    cause();
    await vi.waitFor(() => expect(onStop).toHaveBeenCalledOnce());
    expect(tail.position).toBe(published.at(-1));
    const { seen: anew, onStop: goesOn } = listen();
    publish(4n);
    tail.hear('4');
    await vi.waitFor(() => expect(anew).toEqual([4n]));
    expect(goesOn).not.toHaveBeenCalled();
  });

  it('passes on later events at these positions, also if nobody listened before', async () => {
    lose(2n);
    tail.hear('1');
    await vi.waitFor(() => expect(tail.position).toBe(1n));
    const { seen } = listen();
    publish(2n);
    tail.hear('2');
    await vi.waitFor(() => expect(seen).toEqual([2n]));
  });
});
