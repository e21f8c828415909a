import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { storedActivation } from '#api/esims/delivered-esim.ts';
import { actionReason, idInPath } from '#api/fields/fields.ts';
import { type Caller, type CallerRequest, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply, type StreamedReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageReply, timesOf } from '#api/lists/lists.ts';
import type { Offers } from '#api/offers/offers.ts';
import { BATCHES_PATH, createBatch } from '#api/order-batches/batch-creation.ts';
import {
  BATCH_BODY_LIMIT,
  batchInput,
  batchJson,
  batchListQuery,
  batchOutput,
  batchPage,
} from '#api/order-batches/batch-schemas.ts';
import { type LabelledCode, qrArchive, qrSheet } from '#api/order-batches/qr-files.ts';
import { Problem, requireFound } from '#api/problems/problem.ts';
import { retryAfterHeader } from '#api/work/create-work.ts';
import { addAuditEntries } from '#db/access/audit-log.ts';
import { esimsOfBatch, findBatch, listBatches, type StoredBatch } from '#db/work/orders.ts';
import { lpaString } from '#domain/esims/activation.ts';
import { MAX_BATCH } from '#domain/work/identifiers.ts';
import { abandonUnsent, requestBatchCancel } from '#fulfilment/accept/batch.ts';

/** Then no further orders are abandoned: callers wait at most half a minute. */
const CANCEL_MS = 15_000;

const ANSWER = { contentType: 'application/json', schema: batchOutput } as const;
const params = idInPath('orderBatch');

export function batchOperations(dependencies: ApiDependencies, offers: Offers): Operation[] {
  const { database, keyRing } = dependencies;
  const read = async (id: string, { ownerId }: Caller): Promise<StoredBatch> => {
    return requireFound(await database.run((db) => findBatch(db, id, ownerId)), 'order_batch_not_found');
  };
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
        202: {
          ...ANSWER,
          description: 'The batch and all of its orders are stored and will be processed.',
          headers: { Location: 'Address of the batch.', ...retryAfterHeader },
        },
      },
      problems: ['external_batch_id_taken', 'external_order_id_taken', 'purchase_not_possible'],
      heavy: 'many',
      handle: (request) => createBatch(dependencies, offers, request),
    }),
    listOperation(dependencies),
    operation(`GET ${BATCHES_PATH}/{id}`, {
      id: 'getOrderBatch',
      summary: 'Read a batch with the counts of its orders',
      scope: 'orders:read',
      params,
      answers: { 200: { ...ANSWER, description: 'The batch.' } },
      handle: async (request) => jsonReply(200, batchJson(await read(request.params.id, request.caller), keyRing)),
    }),
    cancelOperation(dependencies, read),
    ...batchCodeOperations(dependencies, read),
  ];
}

function listOperation({ database, keyRing }: ApiDependencies): Operation {
  return operation(`GET ${BATCHES_PATH}`, {
    id: 'listOrderBatches',
    summary: 'List batches of orders, newest first',
    scope: 'orders:read',
    query: batchListQuery,
    answers: { 200: jsonAnswer('A page of batches.', batchPage) },
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
  });
}

function cancelOperation(
  { database, keyRing, now }: ApiDependencies,
  read: (id: string, caller: Caller) => Promise<StoredBatch>,
): Operation {
  return operation(`POST ${BATCHES_PATH}/{id}/cancel`, {
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
    answers: { 200: { ...ANSWER, description: 'The batch as it is now; `cancel_requested_at` is set.' } },
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
  });
}

const AUDITED =
  'Contains the eSIMs that are delivered so far, by position. Needs the scope `esims:reveal`. Each eSIM is written ' +
  'to the audit log as one read of its QR code, and no cache stores the file.';

function batchCodeOperations(
  dependencies: ApiDependencies,
  read: (id: string, caller: Caller) => Promise<StoredBatch>,
): Operation[] {
  const common = {
    scope: 'esims:reveal',
    params: idInPath('orderBatch'),
    problems: ['nothing_delivered'],
    heavy: 'file',
    description: AUDITED,
  } as const;
  const file = async (
    { params: { id }, caller, isHead }: CallerRequest & { readonly params: { readonly id: string } },
    [ending, contentType]: readonly [string, string],
    write: (codes: readonly LabelledCode[]) => AsyncIterable<Uint8Array>,
  ): Promise<StreamedReply> => {
    await read(id, caller);
    const codes = await revealCodes(dependencies, id, { caller, isHead });
    return {
      status: 200,
      headers: { 'Content-Type': contentType, 'Content-Disposition': `attachment; filename="${id}.${ending}"` },
      stallMs: dependencies.streams.stallMs,
      // The file is made no faster than it is read, and no further when its reader has gone.
      send: async (writer) => {
        for await (const bytes of write(codes)) if (!(await writer.send(bytes))) return;
      },
    };
  };
  return [
    operation(`GET ${BATCHES_PATH}/{id}/qr-codes.zip`, {
      ...common,
      id: 'getOrderBatchQrArchive',
      summary: 'Get the QR codes of a batch as a ZIP archive of PNG images',
      answers: {
        200: { description: 'One image for each eSIM, named after its order.', contentType: 'application/zip' },
      },
      handle: (request) => file(request, ['zip', 'application/zip'], qrArchive),
    }),
    operation(`GET ${BATCHES_PATH}/{id}/qr-codes.pdf`, {
      ...common,
      id: 'getOrderBatchQrSheet',
      summary: 'Get the QR codes of a batch as sheets to print, PDF',
      answers: {
        200: {
          description: 'A4 pages with twelve QR codes each, with reference and ICCID.',
          contentType: 'application/pdf',
        },
      },
      handle: (request) => file(request, ['pdf', 'application/pdf'], qrSheet),
    }),
  ];
}

/** Writes an audit entry for each code. HEAD shows none. */
async function revealCodes(
  { database, keyRing, now }: ApiDependencies,
  batchId: string,
  { caller: { apiKeyId: actor }, isHead }: Pick<CallerRequest, 'caller' | 'isHead'>,
): Promise<LabelledCode[]> {
  const esims = await database.run((db) => esimsOfBatch(db, batchId));
  if (esims.length === 0) throw new Problem('nothing_delivered');
  if (isHead) return [];
  const entries = esims.map(
    ({ id }) => ({ actor, action: 'esim.qr_revealed', subject: { kind: 'esim', id } }) as const,
  );
  await database.run((db) => addAuditEntries(db, entries, new Date(now())));
  return esims.map((esim) => ({
    reference: esim.externalOrderId,
    iccid: esim.iccid,
    text: lpaString(storedActivation(keyRing, esim)),
  }));
}
