import { describe, expect, it } from 'vitest';
import { KeyCache } from '#api/access/authentication.ts';
import { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import type { ApiKeyRow } from '#db/access/api-keys.ts';
import type { StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { KEY_AGE_MS } from '#domain/policy/api-policy.ts';

const row = (prefix: string, revokedAt: Date | null = null) => ({ prefix, revokedAt }) as ApiKeyRow;
const REVOKED = new Date(1);

function cache() {
  const reads: PromiseWithResolvers<ApiKeyRow | undefined>[] = [];
  const clock = { now: 0 };
  let wake = () => undefined as void;
  const changes = {
    listen: () => undefined,
    next: () => new Promise<void>((resolve) => (wake = resolve)),
    wake: () => wake(),
    close: async () => undefined,
  };
  const keys = new KeyCache({
    read: () => {
      const read = Promise.withResolvers<ApiKeyRow | undefined>();
      reads.push(read);
      return read.promise;
    },
    changes,
    now: () => clock.now,
  });
  keys.open();
  /** As a notification of PostgreSQL. */
  const notify = async () => {
    changes.wake();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { keys, reads, clock, notify };
}

describe('the API keys of a process', () => {
  it('are read anew once for all that ask in the same turn', async () => {
    const { keys, reads } = cache();
    const asked = Array.from({ length: 100 }, () => keys.findAnew('a'));
    await expect.poll(() => reads.length).toBe(1);
    reads[0]?.resolve(row('a'));
    await Promise.all(asked);
    const later = keys.findAnew('a');
    await expect.poll(() => reads.length).toBe(2);
    reads[1]?.resolve(row('a', REVOKED));
    expect(await later).toMatchObject({ revokedAt: REVOKED });
  });

  it('are read once for all requests until the age limit, counted from the beginning of the read', async () => {
    const { keys, reads, clock } = cache();
    const first = keys.find('a');
    clock.now = KEY_AGE_MS - 1;
    const second = keys.find('a');
    reads[0]!.resolve(row('a'));
    expect([await first, await second, await keys.find('a')]).toEqual([row('a'), row('a'), row('a')]);
    expect(reads).toHaveLength(1);
    clock.now = KEY_AGE_MS;
    const third = keys.find('a');
    reads[1]!.resolve(row('a', REVOKED));
    expect((await third)?.revokedAt).toEqual(REVOKED);
  });

  it('are read again after a notification of a change, also where a read is under way', async () => {
    const { keys, reads, notify } = cache();
    const before = keys.find('a');
    await notify();
    const after = keys.find('a');
    reads[0]!.resolve(row('a'));
    reads[1]!.resolve(row('a', REVOKED));
    expect((await before)?.revokedAt).toBeNull();
    expect((await after)?.revokedAt).toEqual(REVOKED);
    expect((await keys.find('a'))?.revokedAt).toEqual(REVOKED);
    expect(reads).toHaveLength(2);
  });

  it('are not kept where there is none, and not after a failure', async () => {
    const { keys, reads } = cache();
    const unknown = keys.find('a');
    reads[0]!.resolve(undefined);
    expect(await unknown).toBeUndefined();
    const failing = keys.find('a');
    reads[1]!.reject(new Error('the connection broke'));
    await expect(failing).rejects.toThrow('the connection broke');
    const made = keys.find('a');
    reads[2]!.resolve(row('a'));
    expect(await made).toEqual(row('a'));
  });
});

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
});
