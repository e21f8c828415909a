import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import type { CallerRequest } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import type { Offers } from '#api/offers/offers.ts';
import { type batchInput, batchJson } from '#api/order-batches/batch-schemas.ts';
import { type FieldError, invalid, Problem } from '#api/problems/problem.ts';
import { wantedOf } from '#api/problems/purchase-not-possible.ts';
import { limitOfRequest } from '#api/quotes/quote-token.ts';
import { alreadyExists, callerReference, columnsOf, isPast, originOf, PAST_DEADLINE } from '#api/work/create-work.ts';
import { RETRY_AFTER_SECONDS } from '#api/work/long-poll.ts';
import { newCustomer } from '#api/work/work-input.ts';
import { batchId, workId } from '#crypto/derived-ids.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { findBatch, type StoredBatch } from '#db/work/orders.ts';
import type { Money } from '#domain/money/money.ts';
import { batchOrderReference } from '#domain/work/identifiers.ts';
import { acceptBatch, type BatchAcceptance, findTakenOfBatch, type NewBatch } from '#fulfilment/accept/batch.ts';
import type { NewOrder } from '#fulfilment/accept/work.ts';

type BatchRequest = CallerRequest & { readonly body: z.output<typeof batchInput> };
type Items = BatchRequest['body']['items'];

export const BATCHES_PATH = '/v1/order-batches';

/**
 * Creates a batch as a whole or not at all. The ids of its orders follow from their references, as those of single
 * orders.
 */
export async function createBatch(
  dependencies: ApiDependencies,
  offers: Offers,
  request: BatchRequest,
): Promise<Reply> {
  const { body, caller } = request;
  const { lineageId, ownerId } = caller;
  const origin = originOf(dependencies, request);
  // The transaction must not wait for the service.
  const objection = await objectionTo(offers, body.items);
  return answerOnce(dependencies, request, async (tx) => {
    const now = new Date(dependencies.now());
    const { limits, errors } = checkItems(dependencies, body.items, lineageId, now);
    const batch = newBatch(dependencies, body, origin, limits);
    // A repeated request was answered before, and a used reference has its own problem.
    const refusal = objection ?? (errors.length > 0 ? invalid(errors) : undefined);
    if (refusal !== undefined) {
      const held = await findTakenOfBatch(tx, batch);
      throw held === undefined ? refusal : await taken(tx, held, ownerId);
    }
    const accepted = await acceptBatch(tx, batch, now);
    if (!accepted.accepted) throw await taken(tx, accepted, ownerId);
    const counts = new Map([['accepted', accepted.row.size]] as const);
    const stored = { row: accepted.row, counts, charged: [], ofItems: termsOf(body.items, batch) };
    const headers = { Location: `${BATCHES_PATH}/${batch.id}`, 'Retry-After': String(RETRY_AFTER_SECONDS) };
    return jsonReply(202, batchJson(stored, dependencies.keyRing), headers);
  });
}

async function objectionTo(offers: Offers, items: Items): Promise<Problem | undefined> {
  const each = items.map((item, index) => ({
    wanted: wantedOf('packages', item.package_id, item),
    at: placeOf(index),
  }));
  return offers.objectionToAll(offers.packages, 'packages', each);
}

function placeOf(index: number): string {
  return `items.${index}.`;
}

/** Errors that the schema of an item does not see. */
function checkItems({ keyRing }: ApiDependencies, items: Items, lineageId: string, now: Date) {
  const errors: FieldError[] = [];
  const limits = items.map((item, index) => {
    const quoted = { lineageId, kind: 'order', itemId: item.package_id, esimId: undefined } as const;
    const { limit, error } = limitOfRequest(keyRing, item, quoted, now.getTime());
    const found = [...(error === undefined ? [] : [error]), ...(isPast(item.deadline, now) ? [PAST_DEADLINE] : [])];
    errors.push(...found.map((each) => ({ ...each, field: `${placeOf(index)}${each.field}` })));
    return limit;
  });
  return { limits, errors };
}

function newBatch(
  { keyRing }: ApiDependencies,
  { external_batch_id: externalBatchId, items, metadata = {} }: BatchRequest['body'],
  origin: ReturnType<typeof originOf>,
  limits: readonly (Money | undefined)[],
): NewBatch {
  const ofItem = items.flatMap((item, index) => Array.from({ length: item.quantity }, () => ({ item, index })));
  const orders = ofItem.map(({ item, index }, position): NewOrder => {
    const externalOrderId = batchOrderReference(externalBatchId, position + 1);
    const id = workId(keyRing, 'order', ['reference', externalOrderId]);
    const { customer_reference: reference } = item;
    return {
      id,
      ...origin,
      externalOrderId,
      packageId: item.package_id,
      ...(reference !== undefined && newCustomer(keyRing, 'order', id, reference)),
      ...columnsOf(item, limits[index]),
    };
  });
  return {
    id: batchId(keyRing, externalBatchId),
    apiKeyId: origin.apiKeyId,
    externalBatchId,
    items: items.map(({ package_id: packageId, quantity }, index) => ({
      packageId,
      quantity,
      maxPrice: limits[index] ?? null,
    })),
    metadata,
    orders,
  };
}

function termsOf(items: Items, { orders }: NewBatch): StoredBatch['ofItems'] {
  let next = 0;
  return items.flatMap(({ quantity }) => {
    const first = orders[next];
    next += quantity;
    if (first === undefined) return [];
    const { id, metadata = {}, encryptedCustomerReference = null } = first;
    return [{ id, metadata, encryptedCustomerReference }];
  });
}

/** A key that is limited to its own work gets no id of others. */
async function taken(
  tx: Executor,
  { taken: what, existingId }: Extract<BatchAcceptance, { accepted: false }>,
  owner: Owner,
): Promise<Problem> {
  if (what === 'order') {
    return alreadyExists(tx, 'order', callerReference('order'), existingId, owner);
  }
  if ((await findBatch(tx, existingId, owner)) === undefined) {
    const detail = 'This external_batch_id is used by a batch that this API key may not see.';
    return new Problem('external_batch_id_taken', { detail });
  }
  return new Problem('external_batch_id_taken', {
    detail: `Batch ${existingId} exists for this external_batch_id.`,
    extra: { existing: { id: existingId, href: `${BATCHES_PATH}/${existingId}` } },
  });
}
