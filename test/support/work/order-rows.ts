/** Orders, attempts and inbox rows as the product stores them, for tests of later steps. */
import { createHash, randomUUID } from 'node:crypto';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { inboxBodyAad, requestBodyAad } from '#db/encryption-aads.ts';
import { inbox } from '#db/schema.ts';
import { lockAttempt } from '#db/work/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { decideSendClaim, type PriceLimit } from '#domain/purchase/send-claim.ts';
import type { ObservedOutcome, Report } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { acceptCancellation, acceptOrder } from '#fulfilment/accept/work.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { openAttempt } from '#fulfilment/purchase/begin.ts';
import { takeLease } from '#fulfilment/purchase/claim.ts';
import { InboxWriter, type InboxResult } from '#fulfilment/reports/inbox-writer.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { storeEsim } from '#test/support/work/esim-rows.ts';
import { withReference, type OrderAttempt } from '#test/support/work/order-desk.ts';

export const TEST_KEYS = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 3) }]);

export function orderWork(id: string): WorkRef & { readonly kind: 'order' } {
  return { kind: 'order', id };
}

/** Accepts an order as the API does. @returns its id. */
export async function acceptTestOrder(
  database: Database,
  externalOrderId = `ext-${randomUUID()}`,
  { packageId = 1001, apiKeyId = 'key_test', at = new Date() } = {},
): Promise<string> {
  const id = newId('order');
  const order = { id, apiKeyId, externalOrderId, packageId };
  await database.transaction((tx) => acceptOrder(tx, order, at));
  return id;
}

/** Accepts the cancellation of an eSIM as the API does. @returns its id. */
export async function acceptTestCancellationOf(database: Executor, esimId: string, at: Date): Promise<string> {
  const id = newId('cancellation');
  await acceptCancellation(database, { id, apiKeyId: 'key_test', esimId }, at);
  return id;
}

/** Stores a delivered eSIM and accepts its cancellation. */
export async function acceptTestCancellation(database: Database) {
  const orderId = await acceptTestOrder(database);
  return database.transaction(async (tx) => {
    const esimId = await storeEsim(tx, { orderId, packageId: 1001 });
    return { id: await acceptTestCancellationOf(tx, esimId, new Date()), orderId, esimId };
  });
}

/** Opens an attempt. The default reference is unique. */
export async function openTestAttempt(
  database: Database,
  orderId: string,
  { number = 1, reference = `ref-${randomUUID()}` }: { number?: number; reference?: string } = {},
): Promise<OrderAttempt> {
  const body = Buffer.from(JSON.stringify({ package_id: 1001, external_order_id: reference }));
  const work = orderWork(orderId);
  const encryptedBody = (id: string) => TEST_KEYS.encrypt(body, requestBodyAad(id));
  return withReference(
    await database.transaction((tx) =>
      openAttempt(tx, { work, number, idempotencyKey: randomUUID(), reference, encryptedBody }),
    ),
  );
}

/** Claims a send, with the clock of the database. */
export async function claimOf(
  database: Database,
  attemptId: string,
  claim: {
    readonly leaseMs?: number;
    readonly resendWindowMs?: number | undefined;
    readonly limit?: PriceLimit | undefined;
  } = {},
): Promise<TestClaim> {
  const { resendWindowMs, ...terms } = { leaseMs: 30_000, resendWindowMs: Infinity, ...claim };
  return database.transaction(async (tx) => {
    const locked = await lockAttempt(tx, attemptId);
    const decision = decideSendClaim(locked, resendWindowMs);
    if (decision !== 'claim') return { kind: decision };
    const attempt = await takeLease(tx, locked, terms);
    return { kind: 'claimed', attempt, leaseToken: attempt.leaseToken ?? '' };
  });
}

type TestClaim =
  | { readonly kind: 'claimed'; readonly attempt: AttemptRow; readonly leaseToken: string }
  | { readonly kind: Exclude<ReturnType<typeof decideSendClaim>, 'claim'> };

/** Claims a send successfully. @returns the lease token. */
export async function claimTestSend(database: Database, attemptId: string): Promise<string> {
  const claim = await claimOf(database, attemptId);
  if (claim.kind !== 'claimed') throw new Error(`the attempt is ${claim.kind}`);
  return claim.leaseToken;
}

export async function storeTestReport(database: Database, attemptId: string, report: Report): Promise<AttemptRow> {
  return database.transaction((tx) => recordReport(tx, attemptId, report, new Date()));
}

/** Records the end of an order without a purchase, as its workflow does. @param applied keys of the answered reports. */
export async function endTestOrder(
  database: Database,
  orderId: string,
  { status = 'failed', applied = [] }: { status?: 'failed' | 'abandoned'; applied?: readonly string[] } = {},
): ReturnType<typeof recordStep> {
  const entry = { event: `order.${status}`, message: 'No.', stepKey: 'end' };
  const failure = { class: 'invalid_request', detail: 'No.' } as const;
  const step = { work: orderWork(orderId), status, ...entry, failure, applied };
  return database.transaction((tx) => recordStep(tx, step, new Date()));
}

export interface TestEvent {
  readonly outcome: ObservedOutcome;
  readonly serviceId: string;
  readonly reference?: string;
  readonly deliveryId?: string;
  /** More of its data. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Stores an order event in the inbox as the webhook endpoint does. */
export async function deliverTestEvent(database: Database, event: TestEvent): Promise<InboxResult> {
  const { outcome, serviceId, reference, deliveryId = randomUUID() } = event;
  const data = { id: serviceId, status: outcome, external_order_id: reference, ...event.data };
  const body = Buffer.from(JSON.stringify({ event: `order.${outcome}`, data }));
  return new InboxWriter(database, TEST_KEYS).accept({
    deliveryId,
    timestamp: String(Math.floor(Date.now() / 1_000)),
    body,
    headerEvent: `order.${outcome}`,
    parsed: {
      state: 'pending',
      event: `order.${outcome}`,
      subjectKind: 'order',
      outcome,
      serviceId,
      ...(reference === undefined ? {} : { reference }),
    },
  });
}

/** Stores a row whose body cannot be decrypted, for example because its key was removed. */
export async function deliverUnreadableEvent(database: Database, event: TestEvent): Promise<void> {
  const strange = new KeyRing([{ id: 'gone', key: Buffer.alloc(32, 9) }]);
  const { outcome, serviceId, reference, deliveryId = randomUUID() } = event;
  const hash = createHash('sha256').update(deliveryId).digest();
  await database.run((db) =>
    db.insert(inbox).values({
      source: 'webhook',
      deliveryId,
      bodyHash: hash,
      signedHash: hash,
      encryptedBody: strange.encrypt('{}', inboxBodyAad(deliveryId)),
      event: `order.${outcome}`,
      state: 'pending',
      subjectKind: 'order',
      reference: reference ?? null,
      serviceId,
      outcome,
    }),
  );
}
