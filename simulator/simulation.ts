import { randomBytes } from 'node:crypto';
import { pino, type Logger } from 'pino';
import * as z from 'zod';
import { Account } from '#simulator/account.ts';
import { Agenda } from '#simulator/agenda.ts';
import { Behaviours } from '#simulator/behaviour.ts';
import { createClock, type Clock } from '#simulator/clock.ts';
import { dialectChoice, dialectOf, type Dialect, type DialectChoice } from '#simulator/dialect.ts';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import { Faults } from '#simulator/faults.ts';
import { createIdentifiers } from '#simulator/identifiers.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { OrderProgress } from '#simulator/order-progress.ts';
import { Packages } from '#simulator/packages.ts';
import { Purchases } from '#simulator/purchase.ts';
import { Deliveries } from '#simulator/store/deliveries.ts';
import { Esims } from '#simulator/store/esims.ts';
import { IdempotencyKeys } from '#simulator/store/keys.ts';
import { Ledger } from '#simulator/store/ledger.ts';
import { Orders } from '#simulator/store/orders.ts';
import { Requests } from '#simulator/store/requests.ts';
import { Settings } from '#simulator/store/settings.ts';
import { Store } from '#simulator/store/store.ts';
import { Tokens } from '#simulator/store/tokens.ts';
import { Wallet } from '#simulator/wallet.ts';
import { Dispatcher } from '#simulator/webhooks/dispatcher.ts';
import { WebhookQueue, type WebhookTarget } from '#simulator/webhooks/queue.ts';

const storedTarget = z.object({ url: z.string(), secret: z.string() }).nullable();

/** The simulated service without its HTTP: all state and rules, put together once. */
export class Simulation {
  readonly options: ResolvedOptions;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly agenda: Agenda;
  readonly account: Account;
  readonly packages: Packages;
  readonly wallet: Wallet;
  readonly purchases: Purchases;
  readonly progress: OrderProgress;
  readonly webhooks: WebhookQueue;
  readonly faults: Faults;
  readonly behaviours: Behaviours;
  readonly tokens: Tokens;
  readonly orders: Orders;
  readonly esims: Esims;
  readonly ledger: Ledger;
  readonly deliveries: Deliveries;
  readonly requests: Requests;
  readonly #store: Store;
  readonly #settings: Settings;
  readonly #dispatcher: Dispatcher;
  #choice: DialectChoice;
  #dialect: Dialect;
  #seed: string;

  /** @throws StoreError when the data file cannot be used. */
  constructor(options: ResolvedOptions) {
    this.options = options;
    this.logger = pino({ level: options.logLevel, name: 'simulator' }, pino.destination({ fd: 2, sync: true }));
    const store = new Store(options.dataFile);
    this.#store = store;
    this.#settings = new Settings(store);
    this.#seed = this.#storedSeed();
    this.#choice = this.#storedChoice();
    this.#dialect = dialectOf(this.#choice);

    const identifiers = createIdentifiers(() => this.#seed);
    const clock = createClock(options.now, this.#settings.get('clock_offset', z.number()) ?? 0);
    const onError = (error: unknown): void => this.logger.error({ err: error }, 'background work failed');
    const agenda = new Agenda(clock.now, onError);
    this.clock = clock;
    this.agenda = agenda;
    this.tokens = new Tokens(store);
    this.orders = new Orders(store);
    this.esims = new Esims(store);
    this.ledger = new Ledger(store);
    this.deliveries = new Deliveries(store);
    this.requests = new Requests(store);
    this.packages = new Packages(store);
    this.faults = new Faults(store, identifiers);
    this.behaviours = new Behaviours(store, identifiers);
    this.wallet = new Wallet(store, this.ledger, identifiers, clock.now);
    this.account = new Account(options, this.tokens, clock);
    const dispatcher = new Dispatcher(options.webhookTimeoutMs);
    this.#dispatcher = dispatcher;
    this.webhooks = new WebhookQueue(
      { store, deliveries: this.deliveries, faults: this.faults, identifiers, clock, agenda, dispatcher },
      {
        target: (environment) => this.webhookTarget(environment),
        dialect: () => this.#dialect,
        retryDelayMs: options.webhookRetryDelayMs,
        maxAttempts: options.webhookAttempts,
        onExhausted: ({ id, event }, { status, error }) =>
          this.logger.warn({ delivery: id, event, status, error }, 'webhook delivery given up'),
        onError,
      },
    );
    const { orders, esims, wallet, webhooks, packages, behaviours } = this;
    this.progress = new OrderProgress({ store, orders, esims, wallet, webhooks, identifiers, clock, agenda });
    this.purchases = new Purchases({
      store,
      orders,
      keys: new IdempotencyKeys(store),
      wallet,
      packages,
      behaviours,
      progress: this.progress,
      identifiers,
      clock,
      dialect: () => this.#dialect,
      processingDelayMs: options.processingDelayMs,
    });
    this.#openWallets();
    agenda.add(this.progress);
    agenda.add(webhooks);
    agenda.wake();
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  get dialectChoice(): DialectChoice {
    return this.#choice;
  }

  chooseDialect(choice: DialectChoice): void {
    this.#settings.set('dialect', choice);
    this.#choice = choice;
    this.#dialect = dialectOf(choice);
  }

  /** May production buy? */
  get approved(): boolean {
    return this.#settings.get('approved', z.boolean()) ?? this.options.approved;
  }

  setApproved(approved: boolean): void {
    this.#settings.set('approved', approved);
  }

  webhookTarget(environment: Environment): WebhookTarget | undefined {
    const stored = this.#settings.get(`webhook_target.${environment}`, storedTarget);
    return stored === undefined ? this.options.webhook : (stored ?? undefined);
  }

  /** @param target undefined: nothing is sent any more. */
  setWebhookTarget(environment: Environment, target: WebhookTarget | undefined): void {
    this.#settings.set(`webhook_target.${environment}`, target ?? null);
  }

  /** Moves business time forward; what becomes due by it happens at once. @param ms milliseconds. */
  advanceClock(ms: number): void {
    this.clock.advance(ms);
    this.#settings.set('clock_offset', this.clock.offset());
    this.agenda.wake();
  }

  deposit(environment: Environment, amount: string): void {
    this.wallet.credit(environment, amount, { reason: 'deposit' });
  }

  /** Back to the state of a first start with the same options. */
  reset(): void {
    this.#store.reset();
    this.#seed = this.#storedSeed();
    this.#choice = this.#storedChoice();
    this.#dialect = dialectOf(this.#choice);
    this.clock.setOffset(0);
    this.#openWallets();
    this.agenda.wake();
  }

  /** Cuts off webhooks under way, which a next start sends again, and closes the data file. */
  async close(): Promise<void> {
    this.agenda.stop();
    const settled = this.webhooks.close();
    await this.#dispatcher.close();
    await settled;
    this.#store.close();
  }

  /** Drawn once for each data file, so that ids differ between files; unless the options fix it. */
  #storedSeed(): string {
    const seed = this.options.seed ?? this.#settings.get('seed', z.string()) ?? randomBytes(16).toString('hex');
    this.#settings.set('seed', seed);
    return seed;
  }

  #storedChoice(): DialectChoice {
    return this.#settings.get('dialect', dialectChoice) ?? { name: this.options.dialect, properties: {} };
  }

  #openWallets(): void {
    const openings = { sandbox: this.options.sandboxBalance, production: this.options.productionBalance };
    for (const environment of ENVIRONMENTS) {
      const untouched = this.ledger.lastBalance(environment) === undefined;
      if (untouched && Number(openings[environment]) > 0) this.deposit(environment, openings[environment]);
    }
  }
}
