/** Orders, attempts and inbox rows as the product stores them, for tests that begin in the middle. */
import { createHash, randomUUID } from 'node:crypto';
import { KeyRing } from '#crypto/key-ring.ts';
import { claimSend, openAttempt, recordFacts, requestBodyPlace, type AttemptRow, type ServiceFacts } from '#db/attempts.ts';
import type { Database } from '#db/database.ts';
import { newId } from '#db/ids.ts';
import { inboxBodyPlace } from '#db/inbox.ts';
import { InboxIntake, type IntakeResult } from '#db/inbox-intake.ts';
import { acceptOrder } from '#db/order-intake.ts';
import { inbox } from '#db/schema.ts';
import type { ObservedOutcome } from '#domain/observation.ts';

export const TEST_KEYS = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 3) }]);

/** Accepts an order as the API does. @returns its id. */
export async function acceptTestOrder(database: Database, externalOrderId = `ext-${randomUUID()}`): Promise<string> {
  const id = newId('order');
  const order = {
    id,
    apiKeyId: 'key_test',
    externalOrderId,
    packageId: 1001,
    sealedDeviceImei: null,
    maxPrice: null,
    deadlineAt: null,
    metadata: {},
  };
  await database.transaction((tx) => acceptOrder(tx, order, new Date()));
  return id;
}

/** Opens an attempt with a reference of its own. */
export async function openTestAttempt(
  database: Database,
  orderId: string,
  { number = 1, reference = `ref-${randomUUID()}` }: { number?: number; reference?: string } = {},
): Promise<AttemptRow> {
  const body = Buffer.from(JSON.stringify({ package_id: 1001, external_order_id: reference }));
  return database.transaction((tx) =>
    openAttempt(tx, { orderId, number, reference, sealedBody: (id) => TEST_KEYS.seal(body, requestBodyPlace(id)) }),
  );
}

/** Sends it, as far as the database is concerned. @returns the lease token. */
export async function claimTestSend(database: Database, attemptId: string, now = new Date(), leaseMs = 30_000): Promise<string> {
  const claim = await database.transaction((tx) => claimSend(tx, attemptId, leaseMs, now));
  if (claim.kind !== 'claimed') throw new Error(`the attempt is ${claim.kind}`);
  return claim.leaseToken;
}

export async function storeTestFacts(database: Database, attemptId: string, facts: ServiceFacts): Promise<AttemptRow> {
  return database.transaction((tx) => recordFacts(tx, attemptId, facts, new Date()));
}

/** What an order event says. */
export interface TestEvent {
  readonly outcome: ObservedOutcome;
  readonly serviceOrderId: string;
  readonly reference?: string;
  readonly deliveryId?: string;
}

/** Puts an order event into the inbox as the webhook endpoint does. */
export async function deliverTestEvent(database: Database, event: TestEvent): Promise<IntakeResult> {
  const { outcome, serviceOrderId, reference, deliveryId = randomUUID() } = event;
  const named = reference === undefined ? {} : { external_order_id: reference };
  const body = Buffer.from(
    JSON.stringify({ event: `order.${outcome}`, data: { id: serviceOrderId, status: outcome, ...named } }),
  );
  return new InboxIntake(database, TEST_KEYS).accept({
    deliveryId,
    timestamp: String(Math.floor(Date.now() / 1_000)),
    body,
    headerEvent: `order.${outcome}`,
    reading: { state: 'pending', event: `order.${outcome}`, outcome, serviceOrderId, ...(reference === undefined ? {} : { reference }) },
  });
}

/** A row whose body cannot be opened any more, such as after a key was thrown away. */
export async function deliverUnreadableEvent(database: Database, event: TestEvent): Promise<void> {
  const strange = new KeyRing([{ id: 'gone', key: Buffer.alloc(32, 9) }]);
  const { outcome, serviceOrderId, reference, deliveryId = randomUUID() } = event;
  const hash = createHash('sha256').update(deliveryId).digest();
  await database.run((db) =>
    db.insert(inbox).values({
      source: 'webhook',
      deliveryId,
      bodyHash: hash,
      signedHash: hash,
      sealedBody: strange.seal('{}', inboxBodyPlace(deliveryId)),
      event: `order.${outcome}`,
      state: 'pending',
      reference: reference ?? null,
      serviceOrderId,
      outcome,
    }),
  );
}
