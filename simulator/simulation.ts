import { randomBytes } from 'node:crypto';
import { type Logger, pino } from 'pino';
import * as z from 'zod';
import { Behaviours } from '#simulator/behaviour/behaviours.ts';
import { type Dialect, dialectChoice, type DialectChoice, dialectOf } from '#simulator/behaviour/dialect.ts';
import { faultProfile, type FaultProfile, Faults, rulesOf } from '#simulator/behaviour/faults.ts';
import {
  addedPackage,
  addedPlan,
  Catalogue,
  type CataloguePackage,
  PACKAGES,
  VPN_PLANS,
  type VpnPlanItem,
} from '#simulator/catalogue.ts';
import { Agenda, Clock } from '#simulator/clock.ts';
import { createIdentifiers, type Identifiers } from '#simulator/identifiers.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { dueRefunds } from '#simulator/sales/cancellations.ts';
import { dueSales } from '#simulator/sales/progress.ts';
import { dueSubscriptions } from '#simulator/sales/vpn-subscriptions.ts';
import { RateLimiter } from '#simulator/service/rate-limit.ts';
import { shapeChoice, type ShapeChoice, shapeOf } from '#simulator/shapes/shape.ts';
import { numberOfId, Shaper, textOfId } from '#simulator/shapes/shaper.ts';
import { type Environment, ENVIRONMENTS, Store } from '#simulator/store/store.ts';
import { move } from '#simulator/wallet.ts';
import { WebhookQueue } from '#simulator/webhooks/queue.ts';

/** The state of a simulator. What it does are functions that take it. */
export class Simulation {
  readonly options: ResolvedOptions;
  readonly logger: Logger;
  readonly store: Store;
  readonly identifiers: Identifiers;
  readonly clock: Clock;
  readonly agenda: Agenda;
  readonly packages: Catalogue<CataloguePackage>;
  readonly plans: Catalogue<VpnPlanItem>;
  readonly faults: Faults;
  readonly behaviours: Behaviours;
  readonly rateLimiter: RateLimiter;
  readonly webhooks: WebhookQueue;
  /** Lost with the process, as are their operations: nothing is written before the execution. */
  readonly keysInUse = new Set<string>();
  // Chosen by the admin API; until then, the options apply. Kept in memory, because every call needs them.
  dialectChoice!: DialectChoice;
  dialect!: Dialect;
  shapeChoice!: ShapeChoice;
  shaper!: Shaper;
  #seed = '';

  /** @throws StoreError when the data file cannot be used. */
  constructor(options: ResolvedOptions) {
    const store = new Store(options.dataFile);
    this.options = options;
    this.logger = pino({ level: options.logLevel, name: 'simulator' }, pino.destination({ fd: 2, sync: true }));
    this.store = store;
    this.identifiers = createIdentifiers(() => this.#seed);
    this.#readChoices();
    const offset = store.setting('clock_offset', z.number()) ?? 0;
    this.clock = new Clock(options.now, offset, () => this.dialect.clock_offset_ms);
    this.packages = new Catalogue(store, 'package', addedPackage, PACKAGES);
    this.plans = new Catalogue(store, 'vpn_plan', addedPlan, VPN_PLANS);
    this.faults = new Faults(store, this.identifiers);
    this.behaviours = new Behaviours(store, this.identifiers);
    this.rateLimiter = new RateLimiter(this);
    this.webhooks = new WebhookQueue(this);
    this.agenda = new Agenda(
      [dueSales(this), dueRefunds(this), dueSubscriptions(this), this.webhooks],
      () => this.clock.now(),
      (error) => this.onError(error),
    );
    this.#begin();
  }

  choose(name: 'dialect' | 'shape', choice: DialectChoice | ShapeChoice): void {
    this.store.set(name, choice);
    this.#readChoices();
  }

  /** Where ids are numbers, the request contains digits. */
  textId(given: string): string {
    return this.shaper.shape.ids === 'number' ? textOfId(this.store, given) : given;
  }

  get faultProfile(): FaultProfile {
    return this.store.setting('fault_profile', faultProfile) ?? faultProfile.parse({});
  }

  /** Stored with its rules and their counters, so that a restart does not change it. */
  chooseFaultProfile(profile: FaultProfile): void {
    this.store.set('fault_profile', profile);
    this.faults.setProfile(rulesOf(profile));
  }

  get approved(): boolean {
    return this.store.setting('approved', z.boolean()) ?? this.options.approved;
  }

  /** Work that becomes due runs at once. */
  advanceClock(ms: number): void {
    this.clock.offset += ms;
    this.store.set('clock_offset', this.clock.offset);
    this.agenda.wake();
  }

  deposit(environment: Environment, amount: string): void {
    move(this, environment, 'credit', amount, { reason: 'deposit' });
  }

  reset(): void {
    this.store.reset();
    this.#readChoices();
    this.clock.offset = 0;
    this.rateLimiter.restart();
    this.#begin();
  }

  /** Webhooks under way are aborted; the next start sends them again. */
  async close(): Promise<void> {
    this.agenda.stop();
    await this.webhooks.close();
    this.store.close();
  }

  onError(error: unknown): void {
    this.logger.error({ err: error }, 'background work failed');
  }

  #readChoices(): void {
    const { store, options } = this;
    this.dialectChoice = store.setting('dialect', dialectChoice) ?? { name: options.dialect, properties: {} };
    this.dialect = dialectOf(this.dialectChoice);
    this.shapeChoice = store.setting('shape', shapeChoice) ?? { name: options.shape, properties: {} };
    this.shaper = new Shaper(shapeOf(this.shapeChoice, options.headerPrefix), (id) => numberOfId(store, id));
    // Each data file draws its own seed, so that ids differ between files.
    this.#seed = options.seed ?? store.setting('seed', z.string()) ?? randomBytes(16).toString('hex');
    store.set('seed', this.#seed);
  }

  #begin(): void {
    const openings = { sandbox: this.options.sandboxBalance, production: this.options.productionBalance };
    for (const environment of ENVIRONMENTS) {
      const untouched = this.store.get('ledger', { environment }) === undefined;
      if (untouched && Number(openings[environment]) > 0) this.deposit(environment, openings[environment]);
    }
    if (this.store.setting('fault_profile', faultProfile) === undefined) {
      this.chooseFaultProfile(faultProfile.parse({ name: this.options.faultProfile }));
    }
    this.agenda.wake();
  }
}
