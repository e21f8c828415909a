/** The real activities in this process, with a real database and a real simulator. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { KeyRing } from '#crypto/key-ring.ts';
import { newId } from '#db/connection/ids.ts';
import { customerReferenceAad } from '#db/encryption-aads.ts';
import { attempts } from '#db/schema.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { readWork, type AttemptRow, type WorkRow } from '#db/work/rows.ts';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import { acceptTopup, acceptVpnSubscription } from '#fulfilment/accept/work.ts';
import { BalanceReader } from '#fulfilment/purchase/balance-reader.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { startSimulator, type RunningSimulator } from '#simulator/service/server.ts';
import { createLogger } from '#telemetry/logger.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { storedRows } from '#test/support/plain-text.ts';
import { holdDatabaseClock, type DatabaseClock } from '#test/support/servers/database-clock.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { createBenchActivities, type ActivityBenchOptions } from '#test/support/work/activities/bench-activities.ts';
import { step } from '#test/support/work/activities/steps.ts';
import { recorded, type ActivityCall } from '#test/support/work/activities/twice.ts';
import { acceptTestCancellationOf, acceptTestOrder } from '#test/support/work/order-rows.ts';
import { openService, type Service } from '#upstream/service.ts';

const EMAIL = 'reseller@example.com';
const PASSWORD = 'simulator-password';

/** The call of the service that sends work of each kind. */
export const SEND_CALLS = {
  order: 'createOrder',
  topup: 'createTopup',
  vpn_subscription: 'createVpnOrder',
  cancellation: 'cancelEsim',
} as const satisfies Record<WorkKind, string>;

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

export class ActivityBench implements AsyncDisposable {
  readonly activities: ReturnType<typeof createBenchActivities>;
  readonly calls: ActivityCall[] = [];
  readonly database: OpenTestDatabase['database'];
  readonly admin: SimulatorAdmin;
  readonly keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 5) }]);
  /** The clock of the activities. Only a test moves it, so that rows written twice are equal. */
  readonly clock = { now: Date.now() };
  readonly log: string[] = [];
  /** Reads the balance for the purchase gate. */
  readonly wallet: BalanceReader;
  /** Crossings of the threshold of a low balance. */
  readonly crossings: ('low' | 'well')[] = [];
  /** The policy of the purchase gate. A test may change it. */
  readonly gate: Writable<GatePolicy> = { ...DEFAULT_POLICY.gate };
  /** The policy in force, independent of the input of a workflow. A test may revoke parts of it. */
  readonly purchaseInForce: Writable<PurchasePolicy> = { ...DEFAULT_POLICY.purchase };
  /** Dependencies for the activities of another worker on the same database. */
  readonly dependencies: WorkDependencies;
  /** Ids of work with a running workflow. Undefined: Temporal does not answer. */
  running: ReadonlySet<string> | undefined = new Set();
  /** Number of ids in each look-up of running workflows. */
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
    this.wallet = new BalanceReader({ database, service, gate: this.gate, now, onGate });
    const purchaseInForce = async () => Promise.resolve(this.purchaseInForce);
    const { gate } = this;
    this.dependencies = { database, keyRing, service, sendLeaseMs: 30_000, purchaseInForce, gate, onGate, now };
    const findRunning = async (work: readonly WorkRef[]) => this.#findRunning(work);
    const activities = createBenchActivities(this.dependencies, { ...options, logger, findRunning });
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
    const balance = sandboxBalance !== undefined && { sandboxBalance };
    const simulator = await startSimulator({ email: EMAIL, password: PASSWORD, ...balance });
    const bench = new ActivityBench(opened, databaseClock, simulator, options);
    await databaseClock.set(new Date(bench.clock.now));
    return bench;
  }

  /** The activities' client of the service. */
  get service(): Service['client'] {
    return this.#service.client;
  }

  /** Moves the clocks of the service and of the activities. */
  async pass(ms: number): Promise<void> {
    await this.admin.advanceClock(ms);
    this.clock.now += ms;
  }

  async #moveDatabaseClock(): Promise<void> {
    if (this.#databaseNow === this.clock.now) return;
    this.#databaseNow = this.clock.now;
    await this.#databaseClock.set(new Date(this.#databaseNow));
  }

  /** Accepts an order as the API does. @returns its id. */
  async accept(packageId = 1001, apiKeyId = 'key_test'): Promise<string> {
    return acceptTestOrder(this.database, undefined, { packageId, apiKeyId, at: new Date(this.clock.now) });
  }

  /** Opens the first attempt of accepted work. */
  async #open(kind: WorkKind, id: string): Promise<AttemptRef> {
    const work = { kind, id };
    const { attempt } = await this.activities.beginWork({ work });
    return { work, attemptId: attempt.id };
  }

  async begin(packageId?: number, apiKeyId?: string): Promise<AttemptRef> {
    return this.#open('order', await this.accept(packageId, apiKeyId));
  }

  async beginOf(kind: WorkKind): Promise<AttemptRef> {
    const begin = {
      order: () => this.begin(),
      topup: () => this.beginTopup(),
      vpn_subscription: () => this.beginSubscription(),
      cancellation: () => this.beginCancellation(),
    };
    return begin[kind]();
  }

  async attempt({ attemptId }: Pick<AttemptRef, 'attemptId'>): Promise<AttemptRow> {
    return this.database.run((db) => findAttemptById(db, attemptId));
  }

  async row({ work }: Pick<AttemptRef, 'work'>): Promise<WorkRow> {
    return this.database.run((db) => readWork(db, work));
  }

  async act({ work }: Pick<AttemptRef, 'work'>, action: OperatorAction) {
    const operator = { actor: 'Ada', reason: 'A test.', actionId: randomUUID() };
    return this.activities.actOnWork({ work, action, operator });
  }

  /** Sends a purchase, and completes what the service has completed. */
  async buy(ref: AttemptRef) {
    await this.activities.sendPurchase(ref);
    return this.activities.completePurchase({ ...ref, applied: [] });
  }

  /** Records that an attempt has failed and provably cost nothing, without a look at the wallet. */
  async settle({ attemptId }: AttemptRef): Promise<void> {
    await this.database.run((db) =>
      db.update(attempts).set({ state: 'failed', settled: true }).where(eq(attempts.id, attemptId)),
    );
  }

  /** Records that work is held, as its workflow does after the gate refused its send. */
  async hold({ work }: AttemptRef): Promise<void> {
    await this.activities.recordStep(step(work, {}));
  }

  /** Accepts a top-up of a delivered eSIM, and opens its first attempt. */
  async beginTopup(packageId = 1001, existingEsimId?: string): Promise<AttemptRef> {
    const esimId = existingEsimId ?? (await this.deliveredEsim());
    const id = newId('topup');
    const topup = { id, apiKeyId: 'key_test', esimId, packageId };
    await this.database.transaction((tx) => acceptTopup(tx, topup, new Date(this.clock.now)));
    return this.#open('topup', id);
  }

  /** Accepts a cancellation of a delivered eSIM, and opens its first attempt. */
  async beginCancellation(): Promise<AttemptRef> {
    const esimId = await this.deliveredEsim();
    const at = new Date(this.clock.now);
    return this.#open(
      'cancellation',
      await this.database.transaction((tx) => acceptTestCancellationOf(tx, esimId, at)),
    );
  }

  /** Buys and delivers an eSIM. @returns our id. */
  async deliveredEsim(packageId?: number): Promise<string> {
    const delivered = await this.buy(await this.begin(packageId));
    if (delivered.kind !== 'completed' || delivered.esimId === undefined)
      throw new Error('the order was not delivered');
    return delivered.esimId;
  }

  /** Accepts a VPN subscription, and opens its first attempt. */
  async beginSubscription(vpnPlanId = 301, customerPrice = { amount: '29.99', currency: 'USD' }): Promise<AttemptRef> {
    const id = newId('vpn_subscription');
    const subscription = {
      id,
      apiKeyId: 'key_test',
      externalSubscriptionId: `vpn-${randomUUID()}`,
      vpnPlanId,
      encryptedCustomerReference: this.keyRing.encrypt('C-2207', customerReferenceAad('vpn_subscription', id)),
      customerReferenceHash: this.keyRing.hash('C-2207', 'customer_reference'),
      customerPrice: customerPrice.amount,
      customerPriceCurrency: customerPrice.currency,
    };
    await this.database.transaction((tx) => acceptVpnSubscription(tx, subscription, new Date(this.clock.now)));
    return this.#open('vpn_subscription', id);
  }

  /** All rows of all tables, as text. */
  async rows(): Promise<string[]> {
    return storedRows(this.#opened.url);
  }

  /** All rows, and the state of the service: its wallet, its sales and its webhooks. */
  async state(): Promise<readonly unknown[]> {
    const { admin } = this;
    const sent = (await admin.webhooks()).map(({ id, event }) => `${event} ${id}`);
    return [
      await this.rows(),
      await admin.ledger(),
      await admin.orders(),
      await admin.topups(),
      await admin.subscriptions(),
      await admin.refunds(),
      sent,
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.close();
    await this.#simulator.close();
    await this.#opened.drop();
  }
}
