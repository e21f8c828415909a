import type { ApiDependencies } from '#api/dependencies.ts';
import { storedActivation } from '#api/esims/stored-activation.ts';
import { idInPath } from '#api/fields/ids.ts';
import { type Caller, type Operation, operation } from '#api/http/operation.ts';
import type { StreamedReply } from '#api/http/reply.ts';
import { BATCHES_PATH } from '#api/order-batches/batch-creation.ts';
import { type LabelledCode, qrArchive } from '#api/order-batches/qr-archive.ts';
import { qrSheet } from '#api/order-batches/qr-sheet.ts';
import { exampleBatchId } from '#api/orders/order-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { addAuditEntries } from '#db/access/audit-log.ts';
import { esimsOfBatch, type StoredBatch } from '#db/work/orders.ts';
import { lpaString } from '#domain/esims/activation.ts';

const AUDITED =
  'Contains the eSIMs that are delivered so far, by position. Needs the scope `esims:reveal`. Each eSIM is written ' +
  'to the audit log as one read of its QR code, and no cache stores the file.';

/** The QR codes of a batch as a file. */
export function batchCodeOperations(
  dependencies: ApiDependencies,
  read: (id: string, caller: Caller) => Promise<StoredBatch>,
): Operation[] {
  const common = {
    method: 'get',
    tag: 'Orders',
    scope: 'esims:reveal',
    params: idInPath('orderBatch', exampleBatchId),
    problems: ['order_batch_not_found', 'nothing_delivered', 'too_many_streams'],
    heavy: 'file',
    description: AUDITED,
  } as const;
  const file = async (
    { params: { id }, caller, isHead }: FileRequest,
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
    operation({
      ...common,
      id: 'getOrderBatchQrArchive',
      path: `${BATCHES_PATH}/{id}/qr-codes.zip`,
      summary: 'Get the QR codes of a batch as a ZIP archive of PNG images',
      answers: {
        200: { description: 'One image for each eSIM, named after its order.', contentType: 'application/zip' },
      },
      handle: (request) => file(request, ['zip', 'application/zip'], qrArchive),
    }),
    operation({
      ...common,
      id: 'getOrderBatchQrSheet',
      path: `${BATCHES_PATH}/{id}/qr-codes.pdf`,
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

interface FileRequest {
  readonly params: { readonly id: string };
  readonly caller: Caller;
  readonly isHead: boolean;
}

/** Decrypts the activation codes of a batch, after an audit entry for each. HEAD shows none. */
async function revealCodes(
  { database, keyRing, now }: ApiDependencies,
  batchId: string,
  { caller: { apiKeyId: actor }, isHead }: Omit<FileRequest, 'params'>,
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
