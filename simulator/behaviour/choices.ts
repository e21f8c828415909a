import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { dialectChoice, dialectOf, type Dialect, type DialectChoice } from '#simulator/behaviour/dialect.ts';
import { faultProfile, type FaultProfile } from '#simulator/behaviour/fault-profile.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { shapeChoice, shapeOf, type ShapeChoice } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import type { IdNumbers } from '#simulator/store/id-numbers.ts';
import type { Settings } from '#simulator/store/settings.ts';

/** The choices of the admin API, stored in the data file. Until it chooses, the options apply. */
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

  /** Reads all choices again, after the settings were cleared. */
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

  /** Converts answers and events to the chosen shape. */
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

  /** The random faults; undefined when none were chosen. */
  get faultProfile(): FaultProfile | undefined {
    return this.#settings.get('fault_profile', faultProfile);
  }

  chooseFaultProfile(profile: FaultProfile): void {
    this.#settings.set('fault_profile', profile);
  }

  /** True when the reseller may buy in production. */
  get approved(): boolean {
    return this.#settings.get('approved', z.boolean()) ?? this.#options.approved;
  }

  setApproved(approved: boolean): void {
    this.#settings.set('approved', approved);
  }

  /** The seed of the options, or one that is drawn once for each data file, so that ids differ between files. */
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
