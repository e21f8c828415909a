/** Disabling, enabling and deleting webhook endpoints. */
import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { bringForward } from '#db/events/webhook-deliveries.ts';
import { type WebhookEndpointRow, requestEndpointWake } from '#db/events/webhook-endpoints.ts';
import { webhookEndpoints, webhookEndpointSecrets } from '#db/schema.ts';
import type { DisabledReason } from '#domain/events/webhook-delivery.ts';

/**
 * Disables an endpoint; its workflow gives up its waiting deliveries. The reason of an endpoint that is disabled
 * already is replaced.
 */
export async function disableWebhookEndpoint(
  tx: Executor,
  id: string,
  reason: DisabledReason,
  now: Date,
): Promise<void> {
  await tx
    .update(webhookEndpoints)
    .set({ disabledReason: reason, disabledAt: sql`coalesce(${webhookEndpoints.disabledAt}, ${now})`, updatedAt: now })
    .where(eq(webhookEndpoints.id, id));
  await requestEndpointWake(tx, [id], { urgent: true });
}

/** Announces that we have disabled an endpoint. The endpoint itself does not receive the event. */
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

/**
 * Enables an endpoint and clears its failures.
 * @param missedSince start of the events that it missed and now gets; undefined: it gets none of them.
 */
export async function enableWebhookEndpoint(
  tx: Executor,
  id: string,
  missedSince: Date | undefined,
  now: Date,
): Promise<void> {
  const clean = {
    disabledReason: null,
    disabledAt: null,
    failures: 0,
    failingSince: null,
    lastFailure: null,
    retryAt: null,
  };
  await tx
    .update(webhookEndpoints)
    .set({ ...clean, missedSince: missedSince ?? null, updatedAt: now })
    .where(eq(webhookEndpoints.id, id));
  await requestEndpointWake(tx, [id], { urgent: true });
}

/** Deletes an endpoint for its callers, and its secrets. */
export async function deleteWebhookEndpoint(tx: Executor, id: string, now: Date): Promise<void> {
  await tx.update(webhookEndpoints).set({ deletedAt: now, updatedAt: now }).where(eq(webhookEndpoints.id, id));
  await tx.delete(webhookEndpointSecrets).where(eq(webhookEndpointSecrets.endpointId, id));
  await requestEndpointWake(tx, [id], { urgent: true });
}

/**
 * Clears the failures of an endpoint with a new address and sends its waiting deliveries there now. A disabled endpoint
 * stays as it is.
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
