import { describe, expect, it } from 'vitest';
import { DatabaseUnavailableError } from '#db/connection/database.ts';
import { GroupCommit } from '#db/connection/group-commit.ts';

interface Write {
  readonly items: readonly number[];
  readonly finish: (error?: Error) => void;
}

/** A store whose writes end on request of the test. The results are the items times ten. */
function controlled(options: { maxBatch?: number; maxConcurrent?: number; maxWaiting?: number } = {}) {
  const writes: Write[] = [];
  const group = new GroupCommit<number, number>({
    maxBatch: options.maxBatch ?? 3,
    maxConcurrent: options.maxConcurrent ?? 1,
    maxWaiting: options.maxWaiting ?? 100,
    commit: (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<number[]>();
      writes.push({
        items,
        finish: (error) => (error === undefined ? resolve(items.map((item) => item * 10)) : reject(error)),
      });
      return promise;
    },
  });
  return { group, writes };
}

/** Waits until all ready work has run. After a write, the next one begins in a new turn. */
const settle = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('group commit', () => {
  it('writes the items of one turn together, and returns to each caller its own result', async () => {
    const { group, writes } = controlled();
    const results = Promise.all([1, 2, 3].map((item) => group.add(item)));
    await settle();
    expect(writes.map(({ items }) => items)).toEqual([[1, 2, 3]]);
    writes[0]?.finish();
    expect(await results).toEqual([10, 20, 30]);
  });

  it('answers no caller before the write is complete', async () => {
    const { group, writes } = controlled();
    let answered = false;
    const result = group.add(1).then(() => (answered = true));
    await settle();
    expect(answered).toBe(false);
    writes[0]?.finish();
    await result;
    expect(answered).toBe(true);
  });

  it('collects items during a write, in order and up to the batch size', async () => {
    const { group, writes } = controlled({ maxBatch: 3 });
    const all = [group.add(1)];
    await settle();
    all.push(...[2, 3, 4, 5].map((item) => group.add(item)));
    await settle();
    expect(writes).toHaveLength(1);
    for (const position of [0, 1, 2]) {
      writes[position]?.finish();
      await settle();
    }
    expect(writes.map(({ items }) => items)).toEqual([[1], [2, 3, 4], [5]]);
    expect(await Promise.all(all)).toEqual([10, 20, 30, 40, 50]);
  });

  it('runs as many concurrent writes as allowed, never more', async () => {
    const { group, writes } = controlled({ maxBatch: 1, maxConcurrent: 2 });
    const all = Promise.all([1, 2, 3].map((item) => group.add(item)));
    await settle();
    expect(writes.map(({ items }) => items)).toEqual([[1], [2]]);
    writes[1]?.finish();
    await settle();
    expect(writes.map(({ items }) => items)).toEqual([[1], [2], [3]]);
    writes[0]?.finish();
    writes[2]?.finish();
    expect(await all).toEqual([10, 20, 30]);
  });

  it('writes a refused batch again item by item, so only one item fails', async () => {
    const group = new GroupCommit<number, number>({
      maxBatch: 10,
      maxConcurrent: 1,
      maxWaiting: 100,
      commit: async (items) => {
        if (items.includes(2)) throw new RangeError('two is refused');
        return items;
      },
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => group.add(item)));
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    ).toEqual([1, 'RangeError: two is refused', 3]);
  });

  it('fails a batch at once when PostgreSQL is unavailable, and works again afterwards', async () => {
    const { group, writes } = controlled();
    const outcomes = Promise.allSettled([1, 2].map((item) => group.add(item)));
    await settle();
    writes[0]?.finish(new DatabaseUnavailableError(new Error('away')));
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(writes).toHaveLength(1);
    const later = group.add(3);
    await settle();
    writes[1]?.finish();
    expect(await later).toBe(30);
  });

  it('refuses items beyond its queue limit, and serves the queued ones', async () => {
    const { group, writes } = controlled({ maxWaiting: 2 });
    const first = group.add(1);
    await settle();
    const waiting = [group.add(2), group.add(3)];
    await expect(group.add(4)).rejects.toThrow(DatabaseUnavailableError);
    writes[0]?.finish();
    await settle();
    writes[1]?.finish();
    expect(await Promise.all([first, ...waiting])).toEqual([10, 20, 30]);
  });
});
