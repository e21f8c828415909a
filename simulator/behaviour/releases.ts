import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Settings } from '#simulator/store/settings.ts';
import type { latestUpdate } from '#upstream/contract.ts';

/** Default versions of the storefront application by channel. The specification names only `stable`. */
const RELEASES: Readonly<Record<string, string>> = { stable: '2.4.1', beta: '2.5.0' };
const RELEASED_AT = '2026-01-15T09:00:00.000Z';

const SETTING = 'releases';
const storedReleases = z.record(z.string(), z.string());

/** The versions of the storefront application. An unknown channel has no update. */
export class Releases {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Latest version of each channel, including changes of the admin API. */
  all(): Readonly<Record<string, string>> {
    return { ...RELEASES, ...this.#settings.get(SETTING, storedReleases) };
  }

  publish(channel: string, version: string): void {
    this.#settings.set(SETTING, { ...this.#settings.get(SETTING, storedReleases), [channel]: version });
  }

  /** @param current the installed version, in dotted numbers. */
  latest(current: string, channel: string): z.input<typeof latestUpdate> {
    const releases = this.all();
    const latest = Object.hasOwn(releases, channel) ? releases[channel] : undefined;
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
}

/** Compares dotted numbers of any length; a missing part is 0. @returns a negative number, 0 or a positive number. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left.split('.').map(BigInt), right.split('.').map(BigInt)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [x, y] = [a[index] ?? 0n, b[index] ?? 0n];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}
