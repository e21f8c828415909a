import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { actionReason, idInPath } from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { type Caller, type CallerRequest, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageReply, timesOf } from '#api/lists/lists.ts';
import type { Offers } from '#api/offers/offers.ts';
import {
  BATCH_BODY_LIMIT,
  BATCHES_PATH,
  batchInput,
  batchJson,
  batchListQuery,
  batchOutput,
} from '#api/order-batches/batch-schemas.ts';
import { batchCodeOperations } from '#api/order-batches/qr-files.ts';
import { type FieldError, invalid, Problem, requireFound } from '#api/problems/problem.ts';
import { wantedOf } from '#api/problems/purchase-not-possible.ts';
import { limitOfRequest } from '#api/quotes/quote-token.ts';
import {
  alreadyExists,
  callerReference,
  columnsOf,
  isPast,
  originOf,
  PAST_DEADLINE,
  retryAfterHeader,
} from '#api/work/create-work.ts';
import { RETRY_AFTER_SECONDS } from '#api/work/long-poll.ts';
import { newCustomer } from '#api/work/work-input.ts';
import { batchId, workId } from '#crypto/derived-ids.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { findBatch, listBatches, type StoredBatch } from '#db/work/orders.ts';
import type { Money } from '#domain/money/money.ts';
import { batchOrderReference, MAX_BATCH } from '#domain/work/identifiers.ts';
import {
  abandonUnsent,
  acceptBatch,
  type BatchAcceptance,
  findTakenOfBatch,
  type NewBatch,
  requestBatchCancel,
} from '#fulfilment/accept/batch.ts';
import type { NewOrder } from '#fulfilment/accept/work.ts';

/** Then no further orders are abandoned: callers wait at most half a minute. */
const CANCEL_MS = 15_000;

const params = idInPath('orderBatch');

export function batchOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { database, keyRing, now } = dependencies;
  const read = async (id: string, { ownerId }: Caller): Promise<StoredBatch> =>
    requireFound(await database.run((db) => findBatch(db, id, ownerId)), 'order_batch_not_found');
  return [
    operation(`POST ${BATCHES_PATH}`, {
      id: 'createOrderBatch',
      summary: `Buy up to ${MAX_BATCH.toLocaleString('en')} eSIMs in one call`,
      description:
        'Stores all orders or none of them, and answers at once; the purchases follow. Each eSIM is an ordinary ' +
        'order with `batch_id`, in the order of the items: `GET /v1/orders?batch_id=…`. Its `external_order_id` is ' +
        'that of the batch, a hyphen and its position with four digits. The same Idempotency-Key with the same body ' +
        'gets the same answer again, and nothing is bought twice.',
      scope: 'orders:write',
      body: batchInput,
      bodyLimitBytes: BATCH_BODY_LIMIT,
      idempotent: true,
      answers: {
        202: jsonAnswer('The batch and all of its orders are stored and will be processed.', batchOutput, {
          headers: { Location: 'Address of the batch.', ...retryAfterHeader },
        }),
      },
      problems: ['external_batch_id_taken', 'external_order_id_taken', 'purchase_not_possible'],
      heavy: 'many',
      handle: (request) => createBatch(dependencies, offers, request),
    }),
    operation(`GET ${BATCHES_PATH}`, {
      id: 'listOrderBatches',
      summary: 'List batches of orders, newest first',
      scope: 'orders:read',
      query: batchListQuery,
      answers: { 200: jsonAnswer('A page of batches.', pageOf(batchOutput, 'OrderBatchPage')) },
      handle: async ({ query, caller: { ownerId } }) => {
        const [only, ...others] = new Set(query.status);
        const filter = {
          externalBatchId: query.external_batch_id,
          isCompleted: only === undefined || others.length > 0 ? undefined : only === 'completed',
          createdBy: query.created_by,
          ...timesOf(query),
        };
        return pageReply(
          query,
          CURSORS.orderBatch,
          (at) => database.run((db) => listBatches(db, ownerId, filter, at)),
          (each) => batchJson(each, keyRing),
        );
      },
    }),
    operation(`GET ${BATCHES_PATH}/{id}`, {
      id: 'getOrderBatch',
      summary: 'Read a batch with the counts of its orders',
      scope: 'orders:read',
      params,
      answers: { 200: jsonAnswer('The batch.', batchOutput) },
      handle: async (request) => jsonReply(200, batchJson(await read(request.params.id, request.caller), keyRing)),
    }),
    operation(`POST ${BATCHES_PATH}/{id}/cancel`, {
      id: 'cancelOrderBatch',
      summary: 'Cancel what a batch has not bought',
      description:
        'Each order that has provably bought nothing is abandoned, at once or when it would be sent next. An order ' +
        'that may have been sent continues. `counts` shows what is left; delivered eSIMs are cancelled by ' +
        '`POST /v1/esims/{id}/cancel`. A repeated request continues the same cancellation. It changes nothing in a ' +
        'batch that is completed.',
      scope: 'orders:write',
      params,
      body: z.strictObject({ reason: actionReason }).meta({ id: 'OrderBatchCancellation' }),
      answers: { 200: jsonAnswer('The batch as it is now; `cancel_requested_at` is set.', batchOutput) },
      heavy: 'many',
      handle: async ({ params: { id }, body: { reason }, caller }) => {
        await read(id, caller);
        await database.transaction((tx) =>
          requestBatchCancel(tx, id, { actor: caller.apiKeyId, reason }, new Date(now())),
        );
        const { row } = await read(id, caller);
        const began = performance.now();
        await abandonUnsent(database, row, now, () => performance.now() - began > CANCEL_MS);
        return jsonReply(200, batchJson(await read(id, caller), keyRing));
      },
    }),
    ...batchCodeOperations(dependencies, read),
  ];
}

type BatchBody = z.output<typeof batchInput>;

/**
 * Creates a batch as a whole or not at all. The ids of its orders follow from their references, as those of single
 * orders.
 */
async function createBatch(
  dependencies: ApiDependencies,
  offers: Offers,
  request: CallerRequest & { readonly body: BatchBody },
): Promise<Reply> {
  const { body, caller } = request;
  const { lineageId, ownerId } = caller;
  const origin = originOf(dependencies, request);
  // The transaction must not wait for the service.
  const objection = await offers.objectionToAll(
    offers.packages,
    'packages',
    body.items.map((item, index) => ({ wanted: wantedOf('packages', item.package_id, item), at: placeOf(index) })),
  );
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

function placeOf(index: number): string {
  return `items.${index}.`;
}

/** Errors that the schema of an item does not see. */
function checkItems({ keyRing }: ApiDependencies, items: BatchBody['items'], lineageId: string, now: Date) {
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
  { external_batch_id: externalBatchId, items, metadata = {} }: BatchBody,
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

function termsOf(items: BatchBody['items'], { orders }: NewBatch): StoredBatch['ofItems'] {
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
  if (what === 'order') return alreadyExists(tx, 'order', callerReference('order'), existingId, owner);
  if ((await findBatch(tx, existingId, owner)) === undefined) {
    const detail = 'This external_batch_id is used by a batch that this API key may not see.';
    return new Problem('external_batch_id_taken', { detail });
  }
  return new Problem('external_batch_id_taken', {
    detail: `Batch ${existingId} exists for this external_batch_id.`,
    extra: { existing: { id: existingId, href: `${BATCHES_PATH}/${existingId}` } },
  });
}
