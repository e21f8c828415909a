import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { bringForward, healthOf, type WebhookDeliveryRow } from '#db/events/webhook-deliveries.ts';
import { requestEndpointWake, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints, webhookEndpointSecrets, webhookTries } from '#db/schema.ts';
import {
  describeOutcome,
  type DisabledReason,
  type EndpointHealth,
  isDelivered,
  isFailing,
  judgeTry,
  type TryJudgement,
  type TryOutcome,
} from '#domain/events/webhook-delivery.ts';
import type { OutboundPolicy } from '#domain/policy/webhook-policy.ts';
import type { ClaimedDelivery } from '#fulfilment/event-webhooks/claim-delivery.ts';
import { lockEndpointById } from '#fulfilment/event-webhooks/queue-deliveries.ts';

interface FinishedTry {
  readonly outcome: TryOutcome;
  readonly at: Date;
  readonly durationMs: number;
  readonly encryptExcerpt: (aad: string) => Buffer | null;
}

/** `spread` is random, from 0 to 1. */
export async function recordTry(
  tx: Executor,
  { delivery: claimed, endpoint: { url } }: ClaimedDelivery,
  done: FinishedTry,
  { now, spread, policy }: { readonly now: Date; readonly spread: number; readonly policy: OutboundPolicy },
): Promise<void> {
  // Lock the endpoint first, as replays do.
  const endpoint = await lockEndpointById(tx, claimed.endpointId);
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
  const { state, nextTryAt } = judged.delivery;
  const delivered = state === 'delivered';
  // Another try may have overtaken one that took longer than its lease: a failure then neither reopens nor ends the
  // delivery. A delivered event counts all the same.
  const isCurrent = delivery.state === 'pending' && delivery.leasedUntil?.getTime() === claimed.leasedUntil?.getTime();
  await tx
    .update(webhookDeliveries)
    .set({
      tries: delivery.tries + 1,
      lastStatus: outcome.kind === 'answered' ? outcome.status : null,
      lastFailure: outcome.kind === 'no_answer' ? outcome.failure : null,
      ...((delivered || isCurrent) && {
        state,
        failedTries: delivery.failedTries + (delivered ? 0 : 1),
        nextTryAt: nextTryAt === undefined ? null : new Date(nextTryAt),
        leasedUntil: null,
        endedAt: state === 'pending' ? null : now,
      }),
    })
    .where(eq(webhookDeliveries.id, delivery.id));

  const failingSince = dateOf(judged.health.failingSince);
  await tx
    .update(webhookEndpoints)
    .set({
      failures: judged.health.failures,
      failingSince,
      retryAt: dateOf(judged.health.retryAt),
      ...(!isMoved && { lastFailure: delivered ? null : describeOutcome(outcome) }),
      ...(delivered && { lastDeliveredAt: now }),
    })
    .where(eq(webhookEndpoints.id, endpoint.id));
  if (delivered && !isMoved && isFailing(health, policy)) await bringForward(tx, endpoint.id, now);
  // An endpoint that was disabled or deleted during the try stays so.
  if (judged.disable !== undefined && endpoint.disabledReason === null && endpoint.deletedAt === null) {
    await disableWebhookEndpoint(tx, endpoint.id, judged.disable, now);
    await announceDisabled(
      tx,
      { ...endpoint, failingSince },
      { reason: judged.disable, detail: describeOutcome(outcome) },
      now,
    );
  }
}

/** A try at a former address says nothing about the new one: a delivery that did not arrive is tried there at once. */
function judgeFormerAddress(outcome: TryOutcome, health: EndpointHealth, now: number): TryJudgement {
  return { delivery: isDelivered(outcome) ? { state: 'delivered' } : { state: 'pending', nextTryAt: now }, health };
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

function dateOf(at: number | undefined): Date | null {
  return at === undefined ? null : new Date(at);
}

/** Its workflow gives up its waiting deliveries. The reason of an endpoint that is disabled already is replaced. */
export async function disableWebhookEndpoint(
  tx: Executor,
  id: string,
  reason: DisabledReason,
  now: Date,
): Promise<void> {
  await tx
    .update(webhookEndpoints)
    .set({
      disabledReason: reason,
      disabledAt: sql`coalesce(${webhookEndpoints.disabledAt}, ${now})`,
      disabledAfter: sql`case when ${webhookEndpoints.disabledAt} is null
        then (select coalesce(max(${events.position}), 0) from ${events}) else ${webhookEndpoints.disabledAfter} end`,
      updatedAt: now,
    })
    .where(eq(webhookEndpoints.id, id));
  await requestEndpointWake(tx, [id], { urgent: true });
}

/** The endpoint itself does not receive the event. */
export async function announceDisabled(
  tx: Executor,
  { id, apiKeyId, failingSince }: Pick<WebhookEndpointRow, 'id' | 'apiKeyId' | 'failingSince'>,
  { reason, detail }: { readonly reason: Exclude<DisabledReason, 'request'>; readonly detail: string },
  now: Date,
): Promise<void> {
  const data = { reason, detail, failing_since: failingSince?.toISOString() ?? null };
  await recordEvent(
    tx,
    { type: 'webhook_endpoint.disabled', subject: { kind: 'webhook_endpoint', id }, apiKeyId, data },
    now,
  );
}

const NO_FAILURES = { failures: 0, failingSince: null, lastFailure: null, retryAt: null } as const;

/** Clears its failures. Without `missedSince` it gets none of the events that it missed. */
export async function enableWebhookEndpoint(
  tx: Executor,
  id: string,
  missedSince: Date | undefined,
  now: Date,
): Promise<void> {
  const enabled = { ...NO_FAILURES, disabledReason: null, disabledAt: null, disabledAfter: null };
  await tx
    .update(webhookEndpoints)
    .set({ ...enabled, missedSince: missedSince ?? null, updatedAt: now })
    .where(eq(webhookEndpoints.id, id));
  await requestEndpointWake(tx, [id], { urgent: true });
}

export async function deleteWebhookEndpoint(tx: Executor, id: string, now: Date): Promise<void> {
  await tx.update(webhookEndpoints).set({ deletedAt: now, updatedAt: now }).where(eq(webhookEndpoints.id, id));
  await tx.delete(webhookEndpointSecrets).where(eq(webhookEndpointSecrets.endpointId, id));
  await requestEndpointWake(tx, [id], { urgent: true });
}

/** Sends its waiting deliveries to the new address now. A disabled endpoint stays as it is. */
export async function startAtNewAddress(
  tx: Executor,
  { id, disabledAt }: WebhookEndpointRow,
  now: Date,
): Promise<void> {
  if (disabledAt !== null) return;
  await tx.update(webhookEndpoints).set(NO_FAILURES).where(eq(webhookEndpoints.id, id));
  await bringForward(tx, id, now);
  await requestEndpointWake(tx, [id], { urgent: true });
}
