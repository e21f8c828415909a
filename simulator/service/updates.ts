import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Store } from '#simulator/store/store.ts';
import type { latestUpdate } from '#upstream/contract.ts';

/** The specification names only `stable`. */
const RELEASES: Readonly<Record<string, string>> = { stable: '2.4.1', beta: '2.5.0' };
const RELEASED_AT = '2026-01-15T09:00:00.000Z';

export function releases(store: Store): Readonly<Record<string, string>> {
  return { ...RELEASES, ...store.setting('releases', z.record(z.string(), z.string())) };
}

export function publishRelease(store: Store, channel: string, version: string): void {
  store.set('releases', { ...releases(store), [channel]: version });
}

export function latestRelease(store: Store, current: string, channel: string): z.input<typeof latestUpdate> {
  const all = releases(store);
  const latest = Object.hasOwn(all, channel) ? all[channel] : undefined;
  if (latest === undefined || compareVersions(latest, current) <= 0) {
    return { latest_version: latest ?? current, update_available: false, channel };
  }
  return {
    latest_version: latest,
    update_available: true,
    channel,
    download_url: `https://updates.simulator.example/storefront-${latest}.zip`,
    checksum_sha256: createHash('sha256').update(`storefront-${latest}`).digest('hex'),
    release_notes: `Version ${latest} of the storefront application.`,
    released_at: RELEASED_AT,
  };
}

/** A missing part is 0. */
function compareVersions(left: string, right: string): number {
  const [a, b] = [left.split('.').map(BigInt), right.split('.').map(BigInt)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [x, y] = [a[index] ?? 0n, b[index] ?? 0n];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}
