/** The real order activities in this process, over a real database and a real simulator. */
import { randomUUID } from 'node:crypto';
import { createBooksActivities } from '#activities/upkeep/books.ts';
import { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import type { BooksActivities, MaintenanceActivities, WatchActivities } from '#activities/upkeep/upkeep-types.ts';
import { WalletReader } from '#activities/upkeep/wallet-reader.ts';
import { createWatchActivities } from '#activities/upkeep/watch.ts';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { AttemptRef, PurchaseActivities, SubscriptionActivities } from '#activities/work/work-types.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { newId } from '#db/connection/ids.ts';
import { customerReferenceAad } from '#db/encryption-aads.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { BooksPolicy, ReconcilePolicy, WatchPolicy } from '#domain/policy/upkeep-policy.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capabilities.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { acceptCancellation } from '#fulfilment/accept/accept-cancellation.ts';
import { acceptOrder } from '#fulfilment/accept/accept-order.ts';
import { acceptTopup } from '#fulfilment/accept/accept-topup.ts';
import { acceptVpnSubscription } from '#fulfilment/accept/accept-vpn-subscription.ts';
import { startSimulator, type RunningSimulator } from '#simulator/service/server.ts';
import { createLogger } from '#telemetry/logger.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { holdDatabaseClock, type DatabaseClock } from '#test/support/servers/database-clock.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { WRITTEN_TABLES } from '#test/support/work/activity-tables.ts';
import { recorded, type ActivityCall } from '#test/support/work/twice.ts';
import { openService, type Service } from '#upstream/service.ts';

const EMAIL = 'reseller@example.com';
const PASSWORD = 'simulator-password';

export interface ActivityBenchOptions {
  readonly capabilities?: Partial<Capabilities>;
  readonly books?: Partial<BooksPolicy>;
  readonly reconcile?: Partial<ReconcilePolicy>;
  readonly watch?: Partial<WatchPolicy>;
}
type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

export class ActivityBench implements AsyncDisposable {
  readonly activities: PurchaseActivities &
    SubscriptionActivities &
    MaintenanceActivities &
    BooksActivities &
    WatchActivities;
  /** Calls of these, in their order. */
  readonly calls: ActivityCall[] = [];
  readonly database: OpenTestDatabase['database'];
  readonly admin: SimulatorAdmin;
  readonly keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 5) }]);
  /** The clock of the activities stands still, so that rows written twice are equal; a test moves it. */
  readonly clock = { now: Date.now() };
  /** Lines that the activities wrote. */
  readonly log: string[] = [];
  /** Reads the balance for the purchase gate. */
  readonly wallet: WalletReader;
  /** Of the threshold of a low balance. */
  readonly crossings: ('low' | 'well')[] = [];
  /** What the purchase gate goes by; a test changes what it is about. */
  readonly gate: Writable<GatePolicy> = { ...DEFAULT_POLICY.gate };
  /** What is in force, whatever the input of a workflow says; a test revokes some of it. */
  readonly purchaseInForce: Writable<PurchasePolicy> = { ...DEFAULT_POLICY.purchase };
  /** For the activities of another worker on the same database. */
  readonly dependencies: WorkDependencies;
  /** Ids of work whose workflow runs; undefined: Temporal does not say. */
  running: ReadonlySet<string> | undefined = new Set();
  /** Questions to Temporal, each with how much it was about. */
  readonly asked: number[] = [];
  readonly #opened: OpenTestDatabase;
  readonly #databaseClock: DatabaseClock;
  #databaseNow: number;
  readonly #simulator: RunningSimulator;
  readonly #service: Service;

  private constructor(
    opened: OpenTestDatabase,
    databaseClock: DatabaseClock,
    simulator: RunningSimulator,
    options: ActivityBenchOptions,
  ) {
    this.#opened = opened;
    this.#databaseClock = databaseClock;
    this.#databaseNow = this.clock.now;
    this.#simulator = simulator;
    this.database = opened.database;
    this.admin = new SimulatorAdmin(new HttpClient(simulator.url));
    const now = () => this.clock.now;
    const { database, keyRing } = this;
    this.#service = openService({
      baseUrl: simulator.baseUrl,
      mode: 'sandbox',
      email: EMAIL,
      password: PASSWORD,
      deviceName: 'test',
      capabilities: { ...ALL_CAPABILITIES, ...options.capabilities },
      deadlineMs: 5_000,
      tokens: new ServiceTokenStore({ database, keyRing, environment: 'sandbox', account: EMAIL }),
      now,
    });
    const logger = createLogger({ level: 'info', name: 'worker' }, { write: (line) => void this.log.push(line) });
    const onGate = {
      circuitChanged: () => undefined,
      balanceCrossed: (_: unknown, crossed: 'low' | 'well') => void this.crossings.push(crossed),
      failed: (error: unknown) => {
        throw error;
      },
    };
    const service = this.#service.client;
    this.wallet = new WalletReader({ database, service, policy: this.gate, now, onCrossing: onGate.balanceCrossed });
    const purchaseInForce = async () => Promise.resolve(this.purchaseInForce);
    const dependencies = {
      database,
      keyRing,
      service,
      sendLeaseMs: 30_000,
      purchaseInForce,
      gate: this.gate,
      onGate,
      now,
    };
    this.dependencies = dependencies;
    const activities = {
      ...createWorkActivities(dependencies),
      ...createMaintenanceActivities({
        ...dependencies,
        reconcile: {
          ...DEFAULT_POLICY.reconcile,
          silentAfterMs: 60_000,
          everyMs: 1_000,
          readsPerRun: 100,
          ...options.reconcile,
        },
        webhookSilence: DEFAULT_POLICY.webhookSilence,
        logger,
        outbound: DEFAULT_POLICY.outbound,
        sweep: { ...DEFAULT_POLICY.sweep, idleAfterMs: 60_000, everyMs: 1_000, batch: 100, eventsKeptMs: 86_400_000 },
        findRunning: async (work) => this.#findRunning(work),
        wakeRelay: () => undefined,
      }),
      ...createWatchActivities({ ...dependencies, watch: { ...DEFAULT_POLICY.watch, ...options.watch } }),
      ...createBooksActivities({
        ...dependencies,
        logger,
        books: { ...DEFAULT_POLICY.books, ...options.books },
        runway: DEFAULT_POLICY.runway,
      }),
    };
    this.activities = recorded(activities, this.calls, () => this.#moveDatabaseClock());
  }

  #findRunning(work: readonly WorkRef[]): ReadonlySet<string> {
    this.asked.push(work.length);
    if (this.running === undefined) throw new Error('Temporal is down');
    return new Set(work.flatMap(({ id }) => (this.running?.has(id) === true ? [id] : [])));
  }

  static async start({
    sandboxBalance,
    ...options
  }: ActivityBenchOptions & { readonly sandboxBalance?: string } = {}): Promise<ActivityBench> {
    const opened = await openTestDatabase();
    const databaseClock = await holdDatabaseClock(opened, new Date());
    const balance = sandboxBalance === undefined ? {} : { sandboxBalance };
    const simulator = await startSimulator({ email: EMAIL, password: PASSWORD, ...balance });
    const bench = new ActivityBench(opened, databaseClock, simulator, options);
    await databaseClock.set(new Date(bench.clock.now));
    return bench;
  }

  /** The service as our activities see it. */
  get service(): Service['client'] {
    return this.#service.client;
  }

  /** Lets time pass, at the service and here. */
  async pass(ms: number): Promise<void> {
    await this.admin.advanceClock(ms);
    this.clock.now += ms;
  }

  /** PostgreSQL's clock goes with that of the activities. */
  async #moveDatabaseClock(): Promise<void> {
    if (this.#databaseNow === this.clock.now) return;
    this.#databaseNow = this.clock.now;
    await this.#databaseClock.set(new Date(this.#databaseNow));
  }

  /** Accepts an order as the API does. @returns its id. */
  async accept(packageId = 1001, externalOrderId = `ext-${randomUUID()}`, apiKeyId = 'key_test'): Promise<string> {
    const id = newId('order');
    await this.database.transaction((tx) =>
      acceptOrder(
        tx,
        {
          id,
          apiKeyId,
          externalOrderId,
          packageId,
          encryptedDeviceImei: null,
          maxPrice: null,
          deadlineAt: null,
          metadata: {},
        },
        new Date(this.clock.now),
      ),
    );
    return id;
  }

  /** Accepts an order and opens its first attempt. */
  async begin(packageId?: number, apiKeyId?: string): Promise<AttemptRef> {
    const work = { kind: 'order', id: await this.accept(packageId, undefined, apiKeyId) } as const;
    const { attempt } = await this.activities.beginWork({ work });
    return { work, attemptId: attempt.id };
  }

  /** Records that work is held, as its workflow does when its send was not let through. */
  async hold({ work }: AttemptRef): Promise<void> {
    await this.activities.recordStep({
      work,
      stepKey: randomUUID(),
      status: 'held',
      event: `${work.kind}.held`,
      message: 'Held at the purchase gate.',
      attemptNumber: 1,
      applied: [],
    });
  }

  /** An eSIM that was delivered, unless one is named, and a top-up of it whose first attempt is open. */
  async beginTopup(packageId = 1001, existingEsimId?: string): Promise<AttemptRef> {
    const esimId = existingEsimId ?? (await this.deliveredEsim());
    const work = { kind: 'topup', id: newId('topup') } as const;
    const topup = {
      id: work.id,
      apiKeyId: 'key_test',
      esimId,
      packageId,
      externalTopupId: null,
      maxPrice: null,
      deadlineAt: null,
      metadata: {},
    };
    await this.database.transaction((tx) => acceptTopup(tx, topup, new Date(this.clock.now)));
    const { attempt } = await this.activities.beginWork({ work });
    return { work, attemptId: attempt.id };
  }

  /** An eSIM that was delivered, and a cancellation of it whose first attempt is open. */
  async beginCancellation(): Promise<AttemptRef> {
    const esimId = await this.deliveredEsim();
    const work = { kind: 'cancellation', id: newId('cancellation') } as const;
    const cancellation = {
      id: work.id,
      apiKeyId: 'key_test',
      esimId,
      reason: null,
      acceptWithoutRefund: false,
      deadlineAt: null,
      metadata: {},
    };
    await this.database.transaction((tx) => acceptCancellation(tx, cancellation, new Date(this.clock.now)));
    const { attempt } = await this.activities.beginWork({ work });
    return { work, attemptId: attempt.id };
  }

  /** An eSIM that was bought and delivered. @returns our id of it. */
  async deliveredEsim(packageId?: number): Promise<string> {
    const order = await this.begin(packageId);
    await this.activities.sendPurchase(order);
    const delivered = await this.activities.completePurchase({ ...order, applied: [] });
    if (delivered.kind !== 'completed' || delivered.esimId === undefined)
      throw new Error('the order was not delivered');
    return delivered.esimId;
  }

  /** A VPN subscription whose first attempt is open. */
  async beginSubscription(vpnPlanId = 301): Promise<AttemptRef> {
    const work = { kind: 'vpn_subscription', id: newId('vpn_subscription') } as const;
    const subscription = {
      id: work.id,
      apiKeyId: 'key_test',
      externalSubscriptionId: `vpn-${randomUUID()}`,
      vpnPlanId,
      encryptedCustomerReference: this.keyRing.encrypt('C-2207', customerReferenceAad(work.id)),
      customerReferenceHash: this.keyRing.hash('C-2207', 'customer_reference'),
      customerPrice: '29.99',
      maxPrice: null,
      deadlineAt: null,
      metadata: {},
    };
    await this.database.transaction((tx) => acceptVpnSubscription(tx, subscription, new Date(this.clock.now)));
    const { attempt } = await this.activities.beginWork({ work });
    return { work, attemptId: attempt.id };
  }

  /** Every row of the tables that activities write, as text. */
  async rows(): Promise<string[]> {
    return withClient(this.#opened.url, async (client) => {
      const texts: string[] = [];
      for (const table of WRITTEN_TABLES) {
        const { rows } = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${table} AS t ORDER BY 1`);
        texts.push(...rows.map(({ text }) => `${table} ${text}`));
      }
      return texts;
    });
  }

  /** What stands in the rows, and what the service has done: its wallet, what it sold, and what it told of it. */
  async state(): Promise<readonly unknown[]> {
    const { admin } = this;
    const told = (await admin.webhooks()).map(({ id, event }) => `${event} ${id}`);
    return [
      await this.rows(),
      await admin.ledger(),
      await admin.orders(),
      await admin.topups(),
      await admin.subscriptions(),
      await admin.refunds(),
      told,
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.close();
    await this.#simulator.close();
    await this.#opened.drop();
  }
}
