import { describe, expect, it } from 'vitest';
import { CachedRead } from '#upstream/cached-read.ts';

describe('a cached read', () => {
  it('rejects all waiting callers with the failure and does not keep it', async () => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads === 1) throw new Error('away');
      return reads;
    };
    const cached = new CachedRead(read, { maxAgeMs: 1_000, now: () => 0 });
    const both = await Promise.allSettled([cached.get(), cached.get()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await cached.get()).toEqual({ value: 2, readAt: 0 });
    expect(await cached.get()).toEqual({ value: 2, readAt: 0 });
  });
});
