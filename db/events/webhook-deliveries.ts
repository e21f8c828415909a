/** What is to be delivered to webhook endpoints, try by try. */
import {
  and,
  asc,
  count,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  notExists,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { EventRow, PublishedEvent } from '#db/events/events.ts';
import {
  announceDisabled,
  disableWebhookEndpoint,
  endpointState,
  requestEndpointWake,
  type WebhookEndpointRow,
} from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints, webhookTries } from '#db/schema.ts';
import { selects, TEST_EVENT } from '#domain/events/event-filter.ts';
import {
  describeOutcome,
  isDelivered,
  isFailing,
  judgeTry,
  type EndpointHealth,
  type TryJudgement,
  type TryOutcome,
} from '#domain/events/webhook-delivery.ts';
import { DELIVERY_LIFECYCLE, ENDPOINT_LIFECYCLE, EVENT_OF_TRY } from '#domain/events/webhook-lifecycle.ts';
import type { OutboundPolicy } from '#domain/policy/webhook-policy.ts';

export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookTryRow = typeof webhookTries.$inferSelect;

/** PostgreSQL takes 65,535 parameters in a statement. */
const ROWS_PER_INSERT = 1_000;
/** Whoever looks at more than this wants to know that it is many. */
const COUNTED = 10_000;

/**
 * Queues events for each endpoint that is to get them, in the transaction that publishes them: what has a position is
 * queued, and no transaction of business waits for it.
 *
 * @returns how many deliveries there are.
 */
export async function queueDeliveries(tx: Executor, published: readonly PublishedEvent[], now: Date): Promise<number> {
  if (published.length === 0) return 0;
  const receivers = await tx
    .select({ id: webhookEndpoints.id, ownerId: webhookEndpoints.ownerId, eventTypes: webhookEndpoints.eventTypes })
    .from(webhookEndpoints)
    .where(and(isNull(webhookEndpoints.disabledAt), isNull(webhookEndpoints.deletedAt)));
  const pairs = receivers.flatMap((endpoint) =>
    published
      .filter((event) => isFor(endpoint, event))
      .map((event) => ({ endpointId: endpoint.id, eventId: event.id })),
  );
  const ids = [...new Set(pairs.map(({ endpointId }) => endpointId))];
  const tested = new Set(published.filter(({ type }) => type === TEST_EVENT).map(({ subjectId }) => subjectId));
  await requestEndpointWake(
    tx,
    ids.filter((id) => !tested.has(id)),
    { urgent: false },
  );
  await requestEndpointWake(
    tx,
    ids.filter((id) => tested.has(id)),
    { urgent: true },
  );
  await addDeliveries(tx, pairs, now);
  return pairs.length;
}

type Receiver = Pick<WebhookEndpointRow, 'id' | 'ownerId' | 'eventTypes'>;

/**
 * A test is for its endpoint alone. An endpoint with an owner gets what that owner's work brought about, and nothing
 * about the account.
 */
function isFor({ id, ownerId, eventTypes }: Receiver, { type, subjectId, apiKeyId }: PublishedEvent): boolean {
  if (type === TEST_EVENT) return subjectId === id;
  return (ownerId === null || apiKeyId === ownerId) && selects(eventTypes, type);
}

/** Queues an event for an endpoint; where it was queued before, it is tried anew. */
export async function addDeliveries(
  tx: Executor,
  pairs: readonly { endpointId: string; eventId: string }[],
  now: Date,
): Promise<void> {
  for (let start = 0; start < pairs.length; start += ROWS_PER_INSERT) {
    const rows = pairs.slice(start, start + ROWS_PER_INSERT);
    await tx
      .insert(webhookDeliveries)
      .values(
        rows.map((pair) => ({
          ...pair,
          id: newId('webhookDelivery'),
          triedSince: now,
          nextTryAt: now,
          createdAt: now,
        })),
      )
      .onConflictDoUpdate({
        target: [webhookDeliveries.endpointId, webhookDeliveries.eventId],
        // It was queued before, whatever came of that.
        set: {
          state: DELIVERY_LIFECYCLE.queued.pending,
          triedSince: now,
          failedTries: 0,
          nextTryAt: now,
          endedAt: null,
        },
      });
  }
}

/** A delivery in the hands of one try. */
export interface ClaimedDelivery {
  readonly delivery: WebhookDeliveryRow;
  readonly event: EventRow;
  readonly endpoint: Pick<WebhookEndpointRow, 'id' | 'url'>;
}

interface Claim {
  readonly now: Date;
  readonly leaseMs: number;
}

/** Takes the delivery that has been due for longest, for a while. @returns undefined when nothing is to be sent now. */
export async function claimDelivery(
  tx: Executor,
  endpointId: string,
  claim: Claim,
): Promise<ClaimedDelivery | undefined> {
  const endpoint = await readReceiving(tx, endpointId);
  if (endpoint === undefined || (endpoint.retryAt !== null && endpoint.retryAt > claim.now)) return undefined;
  return claimFirst(tx, endpoint, undefined, claim);
}

/**
 * Takes a test that was not tried yet, although the endpoint may be waiting for the end of an outage: a person waits
 * for what comes of it.
 */
export async function claimTest(tx: Executor, endpointId: string, claim: Claim): Promise<ClaimedDelivery | undefined> {
  const endpoint = await readReceiving(tx, endpointId);
  return endpoint === undefined ? undefined : claimFirst(tx, endpoint, untriedTest(tx, endpointId), claim);
}

/** Of a query on `webhook_deliveries`. Few events speak of an endpoint, so that what waits for it is not searched. */
function untriedTest(db: Executor, endpointId: string): SQL | undefined {
  const tests = db
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.subjectId, endpointId), eq(events.type, TEST_EVENT)));
  return and(eq(webhookDeliveries.failedTries, 0), inArray(webhookDeliveries.eventId, tests));
}

async function claimFirst(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  which: SQL | undefined,
  claim: Claim,
): Promise<ClaimedDelivery | undefined> {
  const { now, leaseMs } = claim;
  const { id: endpointId } = endpoint;
  const [due] = await tx
    .select({ id: webhookDeliveries.id, event: events })
    .from(webhookDeliveries)
    .leftJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, endpointId),
        eq(webhookDeliveries.state, 'pending'),
        lte(webhookDeliveries.nextTryAt, now),
        or(isNull(webhookDeliveries.leasedUntil), lte(webhookDeliveries.leasedUntil, now)),
        which,
      ),
    )
    .orderBy(asc(webhookDeliveries.nextTryAt), asc(webhookDeliveries.id))
    .limit(1)
    .for('update', { of: webhookDeliveries, skipLocked: true });
  if (due === undefined) return undefined;
  if (due.event === null) {
    await endForgotten(tx, endpointId, now);
    return claimFirst(tx, endpoint, which, claim);
  }
  const [delivery] = await tx
    .update(webhookDeliveries)
    .set({ leasedUntil: new Date(now.getTime() + leaseMs) })
    .where(eq(webhookDeliveries.id, due.id))
    .returning();
  if (delivery === undefined) return undefined;
  return { delivery, event: due.event, endpoint };
}

/** The columns of a delivery that is not tried any more. */
const givenUp = (now: Date) =>
  ({ state: DELIVERY_LIFECYCLE.given_up.pending, nextTryAt: null, leasedUntil: null, endedAt: now }) as const;

/** What has waited for longer than its event was kept cannot be sent any more, and must not keep the rest from it. */
async function endForgotten(tx: Executor, endpointId: string, now: Date): Promise<void> {
  const event = tx
    .select({ one: sql`1` })
    .from(events)
    .where(eq(events.id, webhookDeliveries.eventId));
  await tx
    .update(webhookDeliveries)
    .set(givenUp(now))
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.state, 'pending'), notExists(event)));
}

/** What came of a try. */
export interface FinishedTry {
  readonly outcome: TryOutcome;
  readonly at: Date;
  readonly durationMs: number;
  /** Encrypts the beginning of the answer with this AAD. */
  readonly encryptExcerpt: (aad: string) => Buffer | null;
}

/**
 * Writes down a try, and what follows from it for its delivery and its endpoint.
 *
 * @param spread from 0 to 1, at random.
 */
export async function recordTry(
  tx: Executor,
  { delivery: claimed, endpoint: { url } }: ClaimedDelivery,
  done: FinishedTry,
  { now, spread, policy }: { readonly now: Date; readonly spread: number; readonly policy: OutboundPolicy },
): Promise<void> {
  // First the endpoint, as whoever replays does; `no key` leaves new deliveries alone, which refer to it.
  const [endpoint] = await tx
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, claimed.endpointId))
    .for('no key update');
  const [delivery] = await tx
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.id, claimed.id))
    .for('update');
  if (endpoint === undefined || delivery === undefined) return;
  const { outcome } = done;
  const health = healthOf(endpoint);
  const tried = { failedTries: delivery.failedTries, triedSince: delivery.triedSince.getTime(), health };
  const isMoved = endpoint.url !== url;
  const judged = isMoved
    ? judgeFormerAddress(outcome, health, now.getTime())
    : judgeTry(outcome, tried, now.getTime(), spread, policy);

  await addTry(tx, delivery, done);
  const { nextTryAt } = judged.delivery;
  const event = EVENT_OF_TRY[judged.delivery.state];
  const state = DELIVERY_LIFECYCLE[event][delivery.state];
  const delivered = event === 'arrived';
  // A try that took longer than its lease may have been overtaken by another; what has arrived has arrived all the
  // same.
  const counts = delivered || delivery.leasedUntil?.getTime() === claimed.leasedUntil?.getTime();
  await tx
    .update(webhookDeliveries)
    .set({
      tries: delivery.tries + 1,
      lastStatus: outcome.kind === 'answered' ? outcome.status : null,
      lastFailure: outcome.kind === 'no_answer' ? outcome.failure : null,
      ...(counts &&
        state !== 'unchanged' && {
          state,
          failedTries: delivery.failedTries + (delivered ? 0 : 1),
          nextTryAt: nextTryAt === undefined ? null : new Date(nextTryAt),
          leasedUntil: null,
          endedAt: state === 'pending' ? null : now,
        }),
    })
    .where(eq(webhookDeliveries.id, delivery.id));

  await tx
    .update(webhookEndpoints)
    .set({
      failures: judged.health.failures,
      failingSince: dateOf(judged.health.failingSince),
      retryAt: dateOf(judged.health.retryAt),
      ...(!isMoved && { lastFailure: delivered ? null : describeOutcome(outcome) }),
      ...(delivered && { lastDeliveredAt: now }),
    })
    .where(eq(webhookEndpoints.id, endpoint.id));
  if (delivered && !isMoved && isFailing(health, policy)) await bringForward(tx, endpoint.id, now);
  // One that was disabled or deleted while the try was under way stays so.
  if (
    judged.disable !== undefined &&
    ENDPOINT_LIFECYCLE[`found_${judged.disable}`][endpointState(endpoint)] !== 'unchanged'
  ) {
    await disableWebhookEndpoint(tx, endpoint.id, judged.disable, now);
    const failingSince = dateOf(judged.health.failingSince);
    await announceDisabled(
      tx,
      { ...endpoint, failingSince },
      { reason: judged.disable, detail: describeOutcome(outcome) },
      now,
    );
  }
}

/**
 * A try at an address that was changed meanwhile says nothing of the new one, where what did not arrive is tried at
 * once.
 */
function judgeFormerAddress(outcome: TryOutcome, health: EndpointHealth, now: number): TryJudgement {
  return { delivery: isDelivered(outcome) ? { state: 'delivered' } : { state: 'pending', nextTryAt: now }, health };
}

/**
 * Its address is another one: it has a clean record, and what waits goes there now. What a disabled one has missed is
 * found by its record.
 */
export async function startAtNewAddress(
  tx: Executor,
  { id, disabledAt }: WebhookEndpointRow,
  now: Date,
): Promise<void> {
  if (disabledAt !== null) return;
  await tx
    .update(webhookEndpoints)
    .set({ failures: 0, failingSince: null, lastFailure: null, retryAt: null })
    .where(eq(webhookEndpoints.id, id));
  await bringForward(tx, id, now);
  await requestEndpointWake(tx, [id], { urgent: true });
}

/** What an endpoint has before it. */
export type EndpointOutlook =
  | { readonly kind: 'ended'; readonly why: 'deleted' | 'disabled' }
  | {
      readonly kind: 'open';
      /** Deliveries that wait, counted up to a bound. */
      readonly pending: number;
      /** When the next is due, or was missed; undefined when none waits. */
      readonly nextAt: Date | undefined;
      /** Whether it is to get more of what it missed than waits. */
      readonly hasMissed: boolean;
      readonly health: EndpointHealth;
      readonly lastFailure: string | null;
    };

export async function endpointOutlook(db: Executor, endpointId: string): Promise<EndpointOutlook> {
  const [endpoint] = await db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, endpointId));
  if (endpoint === undefined || endpoint.deletedAt !== null) return { kind: 'ended', why: 'deleted' };
  if (endpoint.disabledAt !== null) return { kind: 'ended', why: 'disabled' };
  const { nextTryAt, leasedUntil, state } = webhookDeliveries;
  const waiting = and(eq(webhookDeliveries.endpointId, endpointId), eq(state, 'pending'));
  const dueAt = sql`greatest(${nextTryAt}, ${leasedUntil})`.as('due_at');
  const outlook = async (which: SQL | undefined) => {
    const some = db
      .select({ dueAt })
      .from(webhookDeliveries)
      .where(which)
      .orderBy(asc(nextTryAt))
      .limit(COUNTED)
      .as('some');
    const first = sql<Date | null>`min(${some.dueAt})`.mapWith(nextTryAt);
    const [found] = await db.select({ pending: count(), first }).from(some);
    return { pending: found?.pending ?? 0, earliest: found?.first ?? undefined };
  };
  const { pending, earliest } = await outlook(waiting);
  const notBefore = endpoint.retryAt ?? undefined;
  let nextAt = earliest ?? endpoint.missedSince ?? undefined;
  if (earliest !== undefined && notBefore !== undefined && notBefore > earliest) {
    const { earliest: test = notBefore } = await outlook(and(waiting, untriedTest(db, endpointId)));
    nextAt = test < notBefore ? test : notBefore;
  }
  return {
    kind: 'open',
    pending,
    nextAt,
    hasMissed: endpoint.missedSince !== null,
    health: healthOf(endpoint),
    lastFailure: endpoint.lastFailure,
  };
}

/**
 * Gives up what waits for an endpoint that gets nothing any more. @returns how many; fewer than `batch` means that none
 * are left.
 */
export async function giveUpDeliveries(tx: Executor, endpointId: string, batch: number, now: Date): Promise<number> {
  // Looked at again under a lock: it may have been enabled since.
  const [endpoint] = await tx
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, endpointId))
    .for('no key update');
  if (endpoint === undefined || (endpoint.disabledAt === null && endpoint.deletedAt === null)) return 0;
  const some = tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.state, 'pending')))
    .limit(batch);
  const ended = await tx
    .update(webhookDeliveries)
    .set(givenUp(now))
    .where(inArray(webhookDeliveries.id, some))
    .returning({ id: webhookDeliveries.id });
  return ended.length;
}

/**
 * Asks for the workflow of every endpoint whose deliveries have been due for too long, or that is to get what it missed
 * and has nothing queued: it was terminated, or a wake-up was lost.
 */
export async function wakeOverdueEndpoints(tx: Executor, { before }: { readonly before: Date }): Promise<number> {
  const { endpointId, state, nextTryAt, leasedUntil } = webhookDeliveries;
  const { id: endpoint, retryAt, wakesWanted, wakesGiven, missedSince, disabledAt, deletedAt } = webhookEndpoints;
  // One row for each endpoint is looked for: there may be very many that wait.
  const waiting = and(eq(endpointId, endpoint), eq(state, 'pending'));
  const delivery = (which: SQL | undefined) =>
    tx
      .select({ one: sql`1` })
      .from(webhookDeliveries)
      .where(which);
  const overdueDelivery = delivery(
    and(waiting, lte(nextTryAt, before), or(isNull(leasedUntil), lte(leasedUntil, before))),
  );
  const isLeft = and(isNotNull(missedSince), isNull(disabledAt), isNull(deletedAt), notExists(delivery(waiting)));
  const overdue = await tx
    .select({ id: endpoint })
    .from(webhookEndpoints)
    .where(
      and(eq(wakesWanted, wakesGiven), or(isNull(retryAt), lte(retryAt, before)), or(exists(overdueDelivery), isLeft)),
    );
  await requestEndpointWake(
    tx,
    overdue.map(({ id }) => id),
    { urgent: true },
  );
  return overdue.length;
}

/**
 * Forgets deliveries that ended long ago, with their tries. @returns how many; fewer than `batch` means that none are
 * left.
 */
export async function forgetDeliveries(
  db: Executor,
  { before, batch }: { readonly before: Date; readonly batch: number },
): Promise<number> {
  const old = db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(sql`${webhookDeliveries.state} <> 'pending'`, lte(webhookDeliveries.endedAt, before)))
    .limit(batch);
  const rows = await db
    .delete(webhookDeliveries)
    .where(inArray(webhookDeliveries.id, old))
    .returning({ id: webhookDeliveries.id });
  return rows.length;
}

/** The additional authenticated data of the excerpt of an answer. */
export function excerptAad({ deliveryId, number }: Pick<WebhookTryRow, 'deliveryId' | 'number'>): string {
  return `webhook_tries.encrypted_excerpt/${deliveryId}/${number}`;
}

async function addTry(
  tx: Executor,
  { id, tries }: WebhookDeliveryRow,
  { outcome, at, durationMs, encryptExcerpt }: FinishedTry,
): Promise<void> {
  const key = { deliveryId: id, number: tries + 1 };
  await tx.insert(webhookTries).values({
    ...key,
    at,
    durationMs,
    status: outcome.kind === 'answered' ? outcome.status : null,
    failure: outcome.kind === 'no_answer' ? outcome.failure : null,
    encryptedExcerpt: encryptExcerpt(excerptAad(key)),
  });
}

/** An outage is over: what waited for its own next try goes now. */
async function bringForward(tx: Executor, endpointId: string, now: Date): Promise<void> {
  const { nextTryAt, state } = webhookDeliveries;
  await tx
    .update(webhookDeliveries)
    .set({ nextTryAt: now })
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(state, 'pending'), gt(nextTryAt, now)));
}

async function readReceiving(db: Executor, id: string): Promise<WebhookEndpointRow | undefined> {
  const [row] = await db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), isNull(webhookEndpoints.disabledAt), isNull(webhookEndpoints.deletedAt)));
  return row;
}

function healthOf({ failures, failingSince, retryAt }: WebhookEndpointRow): EndpointHealth {
  return {
    failures,
    ...(failingSince !== null && { failingSince: failingSince.getTime() }),
    ...(retryAt !== null && { retryAt: retryAt.getTime() }),
  };
}

function dateOf(at: number | undefined): Date | null {
  return at === undefined ? null : new Date(at);
}
