import { type Logger, pino } from 'pino';
import * as z from 'zod';
import { Account, Tokens } from '#simulator/account.ts';
import { Behaviours } from '#simulator/behaviour/behaviours.ts';
import { Choices, Releases, Settings } from '#simulator/behaviour/choices.ts';
import type { Dialect, DialectChoice } from '#simulator/behaviour/dialect.ts';
import { faultProfile, type FaultProfile, Faults, rulesOf } from '#simulator/behaviour/faults.ts';
import {
  addedPackage,
  addedPlan,
  Catalogue,
  type CataloguePackage,
  CURRENCY,
  PACKAGES,
  VPN_PLANS,
  type VpnPlanItem,
} from '#simulator/catalogue.ts';
import { Agenda, type Clock, createClock } from '#simulator/clock.ts';
import { createIdentifiers, type Identifiers } from '#simulator/identifiers.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { Cancellations } from '#simulator/sales/cancellations.ts';
import { EsimLifecycle } from '#simulator/sales/esims.ts';
import { KeyedOperations } from '#simulator/sales/keyed-operations.ts';
import { kindsOfSale, type KindsOfSale, SaleProgress } from '#simulator/sales/progress.ts';
import { Purchases } from '#simulator/sales/purchases.ts';
import { VpnSubscriptions } from '#simulator/sales/vpn-subscriptions.ts';
import { RateLimiter } from '#simulator/service/rate-limit.ts';
import type { ShapeChoice } from '#simulator/shapes/shape.ts';
import { IdNumbers, type Shaper } from '#simulator/shapes/shaper.ts';
import { Deliveries } from '#simulator/store/deliveries.ts';
import { Esims, Refunds } from '#simulator/store/esims.ts';
import { Ledger } from '#simulator/store/ledger.ts';
import { IdempotencyKeys, Requests } from '#simulator/store/requests.ts';
import { Sales, Subscriptions } from '#simulator/store/sales.ts';
import { type Environment, ENVIRONMENTS, Store } from '#simulator/store/store.ts';
import { Wallet } from '#simulator/wallet.ts';
import { WebhookEndpoints } from '#simulator/webhooks/endpoints.ts';
import { WebhookQueue } from '#simulator/webhooks/queue.ts';

export class Simulation {
  readonly options: ResolvedOptions;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly agenda: Agenda;
  readonly account: Account;
  readonly packages: Catalogue<CataloguePackage>;
  readonly plans: Catalogue<VpnPlanItem>;
  readonly wallet: Wallet;
  readonly esimLifecycle: EsimLifecycle;
  readonly kinds: KindsOfSale;
  readonly purchases: Purchases;
  readonly progress: SaleProgress;
  readonly cancellations: Cancellations;
  readonly vpnSubscriptions: VpnSubscriptions;
  readonly releases: Releases;
  readonly endpoints: WebhookEndpoints;
  readonly webhooks: WebhookQueue;
  readonly rateLimiter: RateLimiter;
  readonly faults: Faults;
  readonly behaviours: Behaviours;
  readonly tokens: Tokens;
  readonly sales: Sales;
  readonly esims: Esims;
  readonly refunds: Refunds;
  readonly subscriptions: Subscriptions;
  readonly ledger: Ledger;
  readonly deliveries: Deliveries;
  readonly requests: Requests;
  readonly store: Store;
  readonly settings: Settings;
  readonly identifiers: Identifiers;
  readonly keys: IdempotencyKeys;
  readonly keyed: KeyedOperations;
  readonly #choices: Choices;
  readonly #idNumbers: IdNumbers;

  /** @throws StoreError when the data file cannot be used. */
  constructor(options: ResolvedOptions) {
    this.options = options;
    this.logger = pino({ level: options.logLevel, name: 'simulator' }, pino.destination({ fd: 2, sync: true }));
    const store = new Store(options.dataFile);
    const settings = new Settings(store);
    this.store = store;
    this.settings = settings;
    this.#idNumbers = new IdNumbers(store);
    const choices = new Choices(settings, options, this.#idNumbers);
    this.#choices = choices;

    const identifiers = createIdentifiers(() => choices.seed);
    const clock = createClock(
      options.now,
      settings.get('clock_offset', z.number()) ?? 0,
      () => choices.dialect.clock_offset_ms,
    );
    const agenda = new Agenda(clock.now, (error) => this.onError(error));
    this.clock = clock;
    this.agenda = agenda;
    this.tokens = new Tokens(store);
    this.sales = new Sales(store);
    this.esims = new Esims(store);
    this.refunds = new Refunds(store);
    this.subscriptions = new Subscriptions(store);
    this.ledger = new Ledger(store);
    this.deliveries = new Deliveries(store);
    this.requests = new Requests(store);
    this.packages = new Catalogue(store, 'package', addedPackage, PACKAGES);
    this.plans = new Catalogue(store, 'vpn_plan', addedPlan, VPN_PLANS);
    this.releases = new Releases(settings);
    this.faults = new Faults(store, identifiers);
    this.behaviours = new Behaviours(store, identifiers);
    this.wallet = new Wallet(store, this.ledger, identifiers, clock.now);
    this.account = new Account(options, this.tokens, clock);
    this.identifiers = identifiers;
    this.rateLimiter = new RateLimiter(this);
    this.endpoints = new WebhookEndpoints(this);
    this.webhooks = new WebhookQueue(this);
    this.keys = new IdempotencyKeys(store);
    this.keyed = new KeyedOperations(this);
    this.esimLifecycle = new EsimLifecycle(this);
    this.kinds = kindsOfSale(this);
    this.progress = new SaleProgress(this);
    this.purchases = new Purchases(this);
    this.cancellations = new Cancellations(this);
    this.vpnSubscriptions = new VpnSubscriptions(this);
    for (const source of [this.progress, this.cancellations, this.vpnSubscriptions, this.webhooks]) agenda.add(source);
    this.#begin();
  }

  get dialect(): Dialect {
    return this.#choices.dialect;
  }

  get dialectChoice(): DialectChoice {
    return this.#choices.dialectChoice;
  }

  chooseDialect(choice: DialectChoice): void {
    this.#choices.chooseDialect(choice);
  }

  get shaper(): Shaper {
    return this.#choices.shaper;
  }

  get shapeChoice(): ShapeChoice {
    return this.#choices.shapeChoice;
  }

  chooseShape(choice: ShapeChoice): void {
    this.#choices.chooseShape(choice);
  }

  /** Where ids are numbers, the request contains digits. */
  textId(given: string): string {
    return this.shaper.shape.ids === 'number' ? this.#idNumbers.textOf(given) : given;
  }

  get faultProfile(): FaultProfile {
    return this.#choices.faultProfile ?? faultProfile.parse({});
  }

  chooseFaultProfile(profile: FaultProfile): void {
    this.#choices.chooseFaultProfile(profile);
    this.faults.setProfile(rulesOf(profile));
  }

  clearFaults(): void {
    this.chooseFaultProfile(faultProfile.parse({}));
    this.faults.clear();
  }

  get approved(): boolean {
    return this.#choices.approved;
  }

  setApproved(approved: boolean): void {
    this.#choices.setApproved(approved);
  }

  /** Work that becomes due runs at once. */
  advanceClock(ms: number): void {
    this.clock.advance(ms);
    this.settings.set('clock_offset', this.clock.offset());
    this.agenda.wake();
  }

  deposit(environment: Environment, amount: string): void {
    this.wallet.credit(environment, amount, { reason: 'deposit' });
  }

  reset(): void {
    this.store.reset();
    this.#choices.reload();
    this.clock.setOffset(0);
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

  #begin(): void {
    const openings = { sandbox: this.options.sandboxBalance, production: this.options.productionBalance };
    for (const environment of ENVIRONMENTS) {
      const untouched = this.ledger.lastBalance(environment, CURRENCY) === undefined;
      if (untouched && Number(openings[environment]) > 0) this.deposit(environment, openings[environment]);
    }
    // Stored with its rules and their counters, so a restart does not change it.
    if (this.#choices.faultProfile === undefined) {
      this.chooseFaultProfile(faultProfile.parse({ name: this.options.faultProfile }));
    }
    this.agenda.wake();
  }
}
