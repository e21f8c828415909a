/** Our webhook endpoints on a test database, with a receiver as in a shop, and with the clock of the test. */
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach } from 'vitest';
import { createWebhookActivities, type WebhookDependencies } from '#activities/webhooks/webhook-activities.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { publishEvents, recordEvent } from '#db/events/event-log.ts';
import { events, webhookDeliveries, webhookEndpoints, webhookEndpointSecrets, webhookTries } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { OutboundPolicy } from '#domain/policy/webhook-policy.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { AddressPolicy } from '#outbound/webhook-address.ts';
import { WebhookSender } from '#outbound/webhook-sender.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export class WebhookBench implements AsyncDisposable {
  readonly keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 3) }]);
  readonly clock = { now: 0 };
  readonly database: Database;
  readonly sender: WebhookSender;
  readonly #opened: OpenTestDatabase;
  #receiver: WebhookReceiver | undefined;

  private constructor(opened: OpenTestDatabase) {
    this.#opened = opened;
    this.database = opened.database;
    this.sender = new WebhookSender({
      policy: new AddressPolicy(['127.0.0.1/32']),
      lookup: async (host) => [host],
      now: () => this.clock.now,
    });
  }

  /** The bench of a file. Each of its tests has a receiver, and begins without endpoints and events. */
  static async start(): Promise<WebhookBench> {
    const bench = disposedAtEnd(new WebhookBench(await openTestDatabase()));
    beforeEach(() => bench.#open());
    afterEach(() => bench.#close());
    return bench;
  }

  get now(): Date {
    return new Date(this.clock.now);
  }

  /** The receiver of the present test. */
  get receiver(): WebhookReceiver {
    if (this.#receiver === undefined) throw new Error('no receiver is running');
    return this.#receiver;
  }

  async #open(): Promise<void> {
    // The verification library of receivers uses the real clock.
    this.clock.now = Date.now();
    this.#receiver = await WebhookReceiver.start();
    for (const table of [webhookTries, webhookDeliveries, webhookEndpointSecrets, webhookEndpoints, events])
      await this.database.run((db) => db.delete(table));
  }

  async #close(): Promise<void> {
    await this.#receiver?.[Symbol.asyncDispose]();
    this.#receiver = undefined;
  }

  activities(overrides: Partial<WebhookDependencies> = {}, policy: Partial<OutboundPolicy> = {}) {
    const now = () => this.clock.now;
    return createWebhookActivities({
      database: this.database,
      keyRing: this.keyRing,
      policy: { ...DEFAULT_POLICY.outbound, ...policy },
      courier: (delivery) => this.sender.deliver(delivery),
      onTry: () => undefined,
      now,
      random: () => 0.5,
      ...overrides,
    });
  }

  /** Sends the due deliveries of an endpoint once, as its workflow does. */
  async round(endpointId: string, policy: Partial<OutboundPolicy> = {}) {
    return this.activities({}, policy).deliverDue({ endpointId });
  }

  /** Advances the clock to each due time, like the workflow. @returns the result of the last round. */
  async until(endpointId: string, end: number) {
    for (;;) {
      const ended = await this.round(endpointId);
      if (ended.kind !== 'waiting' || ended.nextAt > end) return ended;
      this.clock.now = Math.max(ended.nextAt, this.clock.now + 1);
    }
  }

  /** Adds an endpoint at the receiver. @returns its id. */
  async endpoint(secret = generateWebhookSecret()): Promise<string> {
    const { url } = this.receiver;
    const wanted = { apiKeyId: 'key_a', ownerId: undefined, url, description: null, eventTypes: ['*'] };
    return (await this.database.transaction((tx) => addWebhookEndpoint(tx, this.keyRing, wanted, secret, this.now))).id;
  }

  /** Records and publishes events. @returns their ids. */
  async happen(count = 1): Promise<string[]> {
    const data = { status: 'completed', external_order_id: 'A-1' };
    return this.database.transaction(async (tx) => {
      for (let n = 0; n < count; n += 1) {
        const subject = { kind: 'order', id: newId('order') } as const;
        await recordEvent(tx, { type: 'order.completed', subject, apiKeyId: 'key_a', data }, this.now);
      }
      return this.publish(tx);
    });
  }

  /** Publishes the recorded events as the relay does. @returns their ids. */
  async publish(tx: Executor): Promise<string[]> {
    const published = await publishEvents(tx, 1_000);
    await queueDeliveries(tx, published, this.now);
    return published.map(({ id }) => id);
  }

  /** Requests a test of an endpoint and publishes it. @returns its id. */
  async ask(endpointId: string): Promise<string> {
    const subject = { kind: 'webhook_endpoint', id: endpointId } as const;
    const [id = ''] = await this.database.transaction(async (tx) => {
      await recordEvent(tx, { type: 'webhook_endpoint.test', subject, apiKeyId: 'key_a', data: {} }, this.now);
      return this.publish(tx);
    });
    return id;
  }

  async deliveries() {
    return this.database.run((db) => db.select().from(webhookDeliveries).orderBy(webhookDeliveries.id));
  }

  async states() {
    return (await this.deliveries()).map(({ state }) => state);
  }

  async tries() {
    return this.database.run((db) => db.select().from(webhookTries).orderBy(webhookTries.at, webhookTries.number));
  }

  async endpointRow(id: string) {
    const [row] = await this.database.run((db) =>
      db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)),
    );
    return row!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sender.close();
    await this.#opened.drop();
  }
}
