import { setImmediate as nextTurn } from 'node:timers/promises';
import { Zip, ZipPassThrough } from 'fflate';
import QRCode from 'qrcode';
import { auditReveal } from '#api/access/audit-log.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { storedActivation } from '#api/esims/delivered-esim.ts';
import { qrCodePng, QUIET_ZONE_MODULES } from '#api/esims/qr-code.ts';
import { idInPath } from '#api/fields/fields.ts';
import { type Caller, type CallerRequest, type Operation, operation } from '#api/http/operation.ts';
import type { StreamedReply } from '#api/http/reply.ts';
import { BATCHES_PATH } from '#api/order-batches/batch-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { esimsOfBatch, type StoredBatch } from '#db/work/orders.ts';
import { lpaString } from '#domain/esims/activation.ts';

interface LabelledCode {
  readonly reference: string;
  readonly iccid: string | null;
  readonly text: string;
}

export function batchCodeOperations(
  dependencies: ApiDependencies,
  read: (id: string, caller: Caller) => Promise<StoredBatch>,
): Operation[] {
  const common = {
    scope: 'esims:reveal',
    params: idInPath('orderBatch'),
    problems: ['nothing_delivered'],
    heavy: 'file',
    description:
      'Contains the eSIMs that are delivered so far, by position. Needs the scope `esims:reveal`. Each eSIM is ' +
      'written to the audit log as one read of its QR code, and no cache stores the file.',
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
  dependencies: ApiDependencies,
  batchId: string,
  { caller: { apiKeyId: actor }, isHead }: Pick<CallerRequest, 'caller' | 'isHead'>,
): Promise<LabelledCode[]> {
  const { database, keyRing } = dependencies;
  const esims = await database.run((db) => esimsOfBatch(db, batchId));
  if (esims.length === 0) throw new Problem('nothing_delivered');
  if (isHead) return [];
  await auditReveal(dependencies, { actor, action: 'esim.qr_revealed' }, 'esim', esims);
  return esims.map((esim) => ({
    reference: esim.externalOrderId,
    iccid: esim.iccid,
    text: lpaString(storedActivation(keyRing, esim)),
  }));
}

/** Sharp when printed 2.5 cm wide. With 10 pixels an image takes twice as long. */
const PIXELS_PER_MODULE = 6;

/** The format has no time zone, so files have a time without a meaning. */
const NO_TIME = new Date(1980, 0, 1);

/** Images are compressed already, so they are stored as they are. Other requests are answered between two images. */
export async function* qrArchive(codes: readonly LabelledCode[]): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    chunks.push(chunk);
  });
  for (const { reference, text } of codes) {
    // Every file system accepts it, and it contains no path. It ends with the position, so names stay different.
    const stem = reference.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^[.-]/, '_');
    const file = new ZipPassThrough(`${stem}.png`);
    file.mtime = NO_TIME;
    zip.add(file);
    file.push(await qrCodePng(text, PIXELS_PER_MODULE), true);
    yield Buffer.concat(chunks);
    chunks = [];
  }
  zip.end();
  yield Buffer.concat(chunks);
}

const COLUMNS = 3;
const ROWS = 4;
const PER_PAGE = COLUMNS * ROWS;
/** In points, 72 to the inch. */
const MARGIN = 36;
const CODE = 140;
const LABEL = { size: 8, smallSize: 7, gap: 4 };

/** Drawn codes are sharp on every printer. Other requests are answered between two pages. */
export async function* qrSheet(codes: readonly LabelledCode[]): AsyncGenerator<Uint8Array> {
  // Loaded when it is needed: it would take 12 MB of each API, and a tenth of its start.
  const { default: PDFDocument } = await import('pdfkit');
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    autoFirstPage: false,
    info: { Title: 'QR codes', Creator: 'reseller' },
  });
  for (const [index, code] of codes.entries()) {
    if (index % PER_PAGE === 0) {
      await nextTurn();
      yield* written(document);
      document.addPage();
    }
    drawCode(document, code, index % PER_PAGE);
  }
  document.end();
  for await (const chunk of document) yield Buffer.from(chunk);
}

function* written(document: PDFKit.PDFDocument): Generator<Buffer> {
  for (let chunk: unknown; (chunk = document.read()) !== null;) if (Buffer.isBuffer(chunk)) yield chunk;
}

function drawCode(document: PDFKit.PDFDocument, { text, reference, iccid }: LabelledCode, index: number): void {
  const width = (document.page.width - 2 * MARGIN) / COLUMNS;
  const height = (document.page.height - 2 * MARGIN) / ROWS;
  const place = { left: MARGIN + (index % COLUMNS) * width, top: MARGIN + Math.floor(index / COLUMNS) * height };
  const { modules } = QRCode.create(text);
  const side = CODE / (modules.size + 2 * QUIET_ZONE_MODULES);
  const left = place.left + (width - CODE) / 2 + QUIET_ZONE_MODULES * side;
  const top = place.top + QUIET_ZONE_MODULES * side;
  for (let row = 0; row < modules.size; row += 1) {
    for (const { from, length } of darkRuns(modules, row)) {
      document.rect(left + from * side, top + row * side, length * side, side);
    }
  }
  document.fill('black');
  const label = { width, align: 'center', lineBreak: false, ellipsis: true } as const;
  const below = place.top + CODE + LABEL.gap;
  document.font('Helvetica-Bold', LABEL.size).text(reference, place.left, below, label);
  if (iccid === null) return;
  document.font('Helvetica', LABEL.smallSize).text(`ICCID ${iccid}`, place.left, below + LABEL.size + LABEL.gap, label);
}

/** Neighbouring dark modules, as one rectangle each. */
function* darkRuns(modules: QRCode.BitMatrix, row: number) {
  let from: number | undefined;
  for (let column = 0; column <= modules.size; column += 1) {
    const isDark = column < modules.size && modules.get(row, column) === 1;
    if (isDark) from ??= column;
    else if (from !== undefined) {
      yield { from, length: column - from };
      from = undefined;
    }
  }
}
