import { describe, expect, it } from 'vitest';
import { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import type { StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';

const listOf = (...secrets: string[]): StoredWebhookSecrets => ({
  secrets: secrets.map((secret) => ({ secret, storedAt: new Date(0) })),
  undecryptable: 0,
});

/** A cache of the secrets in `state`, with the clock of the test. */
function cacheOf(initial: StoredWebhookSecrets | Error) {
  const state = { stored: initial, now: 1_000_000, reads: 0, warnings: [] as string[] };
  const cache = new WebhookSecretCache({
    read: async () => {
      state.reads += 1;
      if (state.stored instanceof Error) throw state.stored;
      return state.stored;
    },
    logger: { warn: (_fields: unknown, message: string) => void state.warnings.push(message) } as never,
    now: () => state.now,
  });
  const known = () => cache.current()?.map(({ secret }) => secret);
  return { cache, state, known };
}

describe('the cache of stored webhook secrets', () => {
  it('is unknown before its first read', async () => {
    const { cache, known } = cacheOf(listOf('one'));
    expect(known()).toBeUndefined();
    await cache.refresh();
    expect(known()).toEqual(['one']);
  });

  it('is read again for an unmatched signature, at most once a second', async () => {
    const { cache, state, known } = cacheOf(listOf('one'));
    await cache.refresh();
    state.stored = listOf('two', 'one');
    for (let forgery = 0; forgery < 100; forgery += 1) await cache.lookAgain();
    expect({ reads: state.reads, known: known() }).toEqual({ reads: 1, known: ['one'] });
    state.now += 1_000;
    await Promise.all(Array.from({ length: 100 }, () => cache.lookAgain()));
    expect({ reads: state.reads, known: known() }).toEqual({ reads: 2, known: ['two', 'one'] });
  });

  it('is read again after the clock was set back', async () => {
    const { cache, state } = cacheOf(listOf());
    await cache.refresh();
    state.now -= 3_600_000;
    await cache.lookAgain();
    expect(state.reads).toBe(2);
  });

  it('keeps its secrets without the database, with one try a second and one log entry', async () => {
    const { cache, state, known } = cacheOf(listOf('one'));
    await cache.refresh();
    state.stored = new Error('away');
    for (let second = 0; second < 3; second += 1) {
      state.now += 1_000;
      await cache.lookAgain();
      await cache.lookAgain();
    }
    expect({ reads: state.reads, known: known() }).toEqual({ reads: 4, known: ['one'] });
    expect(state.warnings).toEqual([expect.stringContaining('could not be read')]);
  });

  it('returns the same array until the next read, so a verdict is not repeated', async () => {
    const { cache, state } = cacheOf(listOf('one'));
    await cache.refresh();
    const before = cache.current();
    await cache.lookAgain();
    expect(cache.current()).toBe(before);
    state.now += 1_000;
    await cache.lookAgain();
    expect(cache.current()).not.toBe(before);
  });

  it('reports undecryptable secrets once', async () => {
    const { cache, state } = cacheOf({ secrets: [], undecryptable: 1 });
    await cache.refresh();
    await cache.refresh();
    expect(state.warnings).toEqual([expect.stringContaining('ENCRYPTION_KEYS')]);
  });
});
