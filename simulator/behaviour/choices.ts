import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { type Dialect, dialectChoice, type DialectChoice, dialectOf } from '#simulator/behaviour/dialect.ts';
import { faultProfile, type FaultProfile } from '#simulator/behaviour/faults.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { shapeChoice, type ShapeChoice, shapeOf } from '#simulator/shapes/shape.ts';
import { type IdNumbers, Shaper } from '#simulator/shapes/shaper.ts';
import type { Store } from '#simulator/store/store.ts';
import type { latestUpdate } from '#upstream/contract.ts';

const settingRow = z.object({ value: z.string() });

/** They survive a restart and override the configuration. */
export class Settings {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> | undefined {
    const row = this.#store.get(settingRow, 'SELECT value FROM settings WHERE name = :name', { name });
    return row === undefined ? undefined : schema.parse(JSON.parse(row.value));
  }

  set(name: string, value: unknown): void {
    this.#store.run(
      `INSERT INTO settings (name, value) VALUES (:name, :value)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      { name, value: JSON.stringify(value) },
    );
  }

  remove(name: string): void {
    this.#store.run('DELETE FROM settings WHERE name = :name', { name });
  }
}

/** Until the admin API chooses, the options apply. */
export class Choices {
  readonly #settings: Settings;
  readonly #options: ResolvedOptions;
  readonly #idNumbers: IdNumbers;
  // Kept, because every call needs them.
  #dialectChoice: DialectChoice;
  #dialect: Dialect;
  #shapeChoice: ShapeChoice;
  #shaper: Shaper;
  #seed: string;

  constructor(settings: Settings, options: ResolvedOptions, idNumbers: IdNumbers) {
    this.#settings = settings;
    this.#options = options;
    this.#idNumbers = idNumbers;
    this.#seed = this.#storedSeed();
    this.#dialectChoice = this.#storedDialect();
    this.#dialect = dialectOf(this.#dialectChoice);
    this.#shapeChoice = this.#storedShape();
    this.#shaper = this.#makeShaper();
  }

  reload(): void {
    this.#seed = this.#storedSeed();
    this.#dialectChoice = this.#storedDialect();
    this.#dialect = dialectOf(this.#dialectChoice);
    this.#shapeChoice = this.#storedShape();
    this.#shaper = this.#makeShaper();
  }

  get seed(): string {
    return this.#seed;
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  get dialectChoice(): DialectChoice {
    return this.#dialectChoice;
  }

  chooseDialect(choice: DialectChoice): void {
    this.#settings.set('dialect', choice);
    this.#dialectChoice = choice;
    this.#dialect = dialectOf(choice);
  }

  get shaper(): Shaper {
    return this.#shaper;
  }

  get shapeChoice(): ShapeChoice {
    return this.#shapeChoice;
  }

  chooseShape(choice: ShapeChoice): void {
    this.#settings.set('shape', choice);
    this.#shapeChoice = choice;
    this.#shaper = this.#makeShaper();
  }

  get faultProfile(): FaultProfile | undefined {
    return this.#settings.get('fault_profile', faultProfile);
  }

  chooseFaultProfile(profile: FaultProfile): void {
    this.#settings.set('fault_profile', profile);
  }

  get approved(): boolean {
    return this.#settings.get('approved', z.boolean()) ?? this.#options.approved;
  }

  setApproved(approved: boolean): void {
    this.#settings.set('approved', approved);
  }

  /** Each data file draws its own seed, so that ids differ between files. */
  #storedSeed(): string {
    const seed = this.#options.seed ?? this.#settings.get('seed', z.string()) ?? randomBytes(16).toString('hex');
    this.#settings.set('seed', seed);
    return seed;
  }

  #storedDialect(): DialectChoice {
    return this.#settings.get('dialect', dialectChoice) ?? { name: this.#options.dialect, properties: {} };
  }

  #storedShape(): ShapeChoice {
    return this.#settings.get('shape', shapeChoice) ?? { name: this.#options.shape, properties: {} };
  }

  #makeShaper(): Shaper {
    const shape = shapeOf(this.#shapeChoice, this.#options.headerPrefix);
    return new Shaper(shape, (id) => this.#idNumbers.numberOf(id));
  }
}

/** The specification names only `stable`. */
const RELEASES: Readonly<Record<string, string>> = { stable: '2.4.1', beta: '2.5.0' };
const RELEASED_AT = '2026-01-15T09:00:00.000Z';

const SETTING = 'releases';
const storedReleases = z.record(z.string(), z.string());

export class Releases {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  all(): Readonly<Record<string, string>> {
    return { ...RELEASES, ...this.#settings.get(SETTING, storedReleases) };
  }

  publish(channel: string, version: string): void {
    this.#settings.set(SETTING, { ...this.#settings.get(SETTING, storedReleases), [channel]: version });
  }

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

/** A missing part is 0. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left.split('.').map(BigInt), right.split('.').map(BigInt)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [x, y] = [a[index] ?? 0n, b[index] ?? 0n];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}
