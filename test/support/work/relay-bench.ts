/** A relay on a test database, with a fake of Temporal that records its calls. */
import { eq } from 'drizzle-orm';
import { onTestFinished } from 'vitest';
import type { Database } from '#db/connection/database.ts';
import { cases, inbox, outbox } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { NotifyOutcome } from '#domain/relay/relay-decision.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import type { StartOutcome } from '#temporal/start-work.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder, claimTestSend, openTestAttempt, storeTestReport } from '#test/support/work/order-rows.ts';
import { testRelay } from '#test/support/work/relay.ts';
import type { WorkWorkflows } from '#worker/relay/relay.ts';

/** Temporal as the relay sees it: records starts and signals, and can fail. */
class RecordedWorkflows implements WorkWorkflows {
  readonly started: string[] = [];
  readonly woken: string[] = [];
  readonly signalled: { orderId: string; observation: ServiceObservation }[] = [];
  /** Throws in order to fail, before or after the effect of the call. */
  onStart: (orderId: string) => void = () => undefined;
  afterSignal: (orderId: string) => void = () => undefined;

  readonly endpointsWoken: [id: string, urgent: boolean][] = [];
  onWakeEndpoint: () => Promise<void> = async () => undefined;

  async wakeEndpoint(id: string, urgent: boolean): Promise<void> {
    await this.onWakeEndpoint();
    this.endpointsWoken.push([id, urgent]);
  }

  startOutcome: StartOutcome = 'started';

  outcome: NotifyOutcome = 'notified';

  async start(order: WorkStart) {
    this.onStart(order.id);
    this.started.push(order.id);
    return this.startOutcome;
  }

  async wake(order: WorkStart): Promise<NotifyOutcome> {
    this.woken.push(order.id);
    return this.outcome;
  }

  async signalReport(order: WorkStart, observation: ServiceObservation): Promise<NotifyOutcome> {
    this.signalled.push({ orderId: order.id, observation });
    this.afterSignal(order.id);
    return this.outcome;
  }
}

/** Longer than any test, so a postponed row is never due. */
export const HOUR = 3_600_000;

export class RelayBench implements AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** Replaced before each test. */
  temporal = new RecordedWorkflows();
  readonly #opened: OpenTestDatabase;

  private constructor(opened: OpenTestDatabase) {
    this.#opened = opened;
    this.database = opened.database;
    this.url = opened.url;
  }

  static async start(): Promise<RelayBench> {
    return new RelayBench(await openTestDatabase());
  }

  /** Empties the queues and forgets the recorded calls. */
  async empty(): Promise<void> {
    this.temporal = new RecordedWorkflows();
    await this.database.run((db) => db.delete(inbox));
    await this.database.run((db) => db.delete(outbox));
  }

  /** It stops with the test. */
  newRelay({ batch = 100, pollMs = 60_000 } = {}) {
    const { temporal } = this;
    const made = testRelay(this.#opened, temporal, {
      endpoints: { wake: (id, { urgent }) => temporal.wakeEndpoint(id, urgent) },
      policy: {
        ...DEFAULT_POLICY.relay,
        pollMs,
        batch,
        retryDelayMs: HOUR,
        retryDelayMaxMs: 60 * HOUR,
        lastingTries: 3,
      },
    });
    onTestFinished(made.close);
    return made;
  }

  /** Processes all due rows with a new relay. */
  async drain() {
    return this.newRelay().relay.drain();
  }

  async rows() {
    return this.database.run((db) => db.select().from(inbox).orderBy(inbox.id));
  }

  async waiting(): Promise<string[]> {
    return (await this.database.run((db) => db.select().from(outbox))).map(({ subjectId }) => subjectId);
  }

  async casesOf(orderId: string) {
    return this.database.run((db) => db.select().from(cases).where(eq(cases.subjectId, orderId)));
  }

  /** An order with an attempt that the service has. */
  async bought(serviceId: string, charged?: Money) {
    const orderId = await acceptTestOrder(this.database);
    const attempt = await openTestAttempt(this.database, orderId);
    await claimTestSend(this.database, attempt.id);
    await storeTestReport(this.database, attempt.id, { outcome: 'processing', serviceId, charged });
    await this.database.run((db) => db.delete(outbox));
    return { orderId, attempt };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.drop();
  }
}
