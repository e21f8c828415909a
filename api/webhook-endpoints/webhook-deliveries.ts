import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { eventIdInput } from '#api/events/event-schemas.ts';
import { idInPath } from '#api/fields/ids.ts';
import { instantJson } from '#api/fields/instant.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { idCursor, readIdCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import { pageOf, pageQuery } from '#api/lists/page-schemas.ts';
import { type DeliveryOutput, deliveryOutput, deliveryState } from '#api/webhook-endpoints/webhook-delivery-schemas.ts';
import { ENDPOINTS_PATH, ENDPOINTS_TAG, requireEndpoint } from '#api/webhook-endpoints/webhook-endpoint-resource.ts';
import { exampleEndpointId } from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { DecryptionError, type KeyRing } from '#crypto/key-ring.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import type { WebhookTryRow } from '#db/events/webhook-deliveries.ts';
import { listDeliveries, type DeliveryWithTries } from '#db/events/webhook-delivery-queries.ts';
import { TEST_EVENT } from '#domain/events/event-filter.ts';

const params = idInPath('webhookEndpoint', exampleEndpointId);

/** The deliveries of a webhook endpoint, with each try. */
export function webhookDeliveryOperation({ database, keyRing }: ApiDependencies): Operation {
  return operation({
    id: 'listWebhookDeliveries',
    method: 'get',
    path: `${ENDPOINTS_PATH}/{id}/deliveries`,
    tag: ENDPOINTS_TAG,
    summary: 'List the deliveries of a webhook endpoint with each try, newest first',
    description: 'Ended deliveries are stored for some weeks.',
    scope: 'webhook_endpoints:read',
    params,
    query: z.strictObject({ status: deliveryState.optional(), event_id: eventIdInput.optional(), ...pageQuery }),
    answers: {
      200: jsonAnswer('A page of deliveries.', pageOf(deliveryOutput, 'WebhookDeliveryPage')),
    },
    problems: ['webhook_endpoint_not_found'],
    handle: async ({ params: { id }, query: { limit, cursor, status: state, event_id: eventId }, caller }) => {
      const after = cursor === undefined ? undefined : readIdCursor('webhookDelivery', cursor);
      const found = await database.run(async (db) => {
        const { retryAt } = await requireEndpoint(db, id, caller);
        const views = await listDeliveries(db, id, { state, eventId }, { limit: limit + 1, after });
        return { retryAt, views };
      });
      return pageReply(found.views, limit, {
        json: (view) => deliveryJson(keyRing, view, found.retryAt),
        cursor: ({ delivery }) => idCursor(delivery.id),
      });
    },
  });
}

/** @param notBefore time of the next send to the endpoint as a whole. */
function deliveryJson(
  keyRing: KeyRing,
  { delivery, eventType, tries }: DeliveryWithTries,
  notBefore: Date | null,
): DeliveryOutput {
  const { nextTryAt } = delivery;
  const isTest = eventType === TEST_EVENT && delivery.failedTries === 0;
  const isHeld = nextTryAt !== null && notBefore !== null && notBefore > nextTryAt && !isTest;
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: eventType,
    status: delivery.state,
    tries: delivery.tries,
    next_try_at: instantJson(isHeld ? notBefore : nextTryAt),
    created_at: delivery.createdAt.toISOString(),
    ended_at: instantJson(delivery.endedAt),
    log: tries.map((each) => ({
      number: each.number,
      at: each.at.toISOString(),
      duration_ms: each.durationMs,
      status: each.status,
      failure: each.failure,
      answer_excerpt: excerptOf(keyRing, each),
    })),
  };
}

/** @returns null when the key of the excerpt is no longer in the key ring; the rest of the log can be read. */
function excerptOf(keyRing: KeyRing, row: WebhookTryRow): string | null {
  if (row.encryptedExcerpt === null) return null;
  try {
    return keyRing.decryptText(row.encryptedExcerpt, excerptAad(row));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
