import { setImmediate as nextTurn } from 'node:timers/promises';
import { Zip, ZipPassThrough } from 'fflate';
import PDFDocument from 'pdfkit';
import QRCode from 'qrcode';
import { qrCodePng, QUIET_ZONE_MODULES } from '#api/esims/qr-code.ts';

export interface LabelledCode {
  readonly reference: string;
  readonly iccid: string | null;
  readonly text: string;
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
    const file = new ZipPassThrough(`${fileStem(reference)}.png`);
    file.mtime = NO_TIME;
    zip.add(file);
    file.push(await qrCodePng(text, PIXELS_PER_MODULE), true);
    yield Buffer.concat(chunks);
    chunks = [];
  }
  zip.end();
  yield Buffer.concat(chunks);
}

/**
 * Every file system accepts it, and it contains no path. The last characters are the position, so names stay different.
 */
function fileStem(reference: string): string {
  return reference.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^[.-]/, '_');
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
    drawCode(document, code, placeOf(document, index % PER_PAGE));
  }
  document.end();
  for await (const chunk of document) yield Buffer.from(chunk);
}

function* written(document: PDFKit.PDFDocument): Generator<Buffer> {
  for (let chunk: unknown; (chunk = document.read()) !== null;) if (Buffer.isBuffer(chunk)) yield chunk;
}

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

function placeOf({ page }: PDFKit.PDFDocument, index: number): Place {
  const width = (page.width - 2 * MARGIN) / COLUMNS;
  const height = (page.height - 2 * MARGIN) / ROWS;
  return { left: MARGIN + (index % COLUMNS) * width, top: MARGIN + Math.floor(index / COLUMNS) * height, width };
}

function drawCode(document: PDFKit.PDFDocument, { text, reference, iccid }: LabelledCode, place: Place): void {
  const { modules } = QRCode.create(text);
  const side = CODE / (modules.size + 2 * QUIET_ZONE_MODULES);
  const left = place.left + (place.width - CODE) / 2 + QUIET_ZONE_MODULES * side;
  const top = place.top + QUIET_ZONE_MODULES * side;
  for (let row = 0; row < modules.size; row += 1) {
    for (const { from, length } of darkRuns(modules, row)) {
      document.rect(left + from * side, top + row * side, length * side, side);
    }
  }
  document.fill('black');
  const label = { width: place.width, align: 'center', lineBreak: false, ellipsis: true } as const;
  const below = place.top + CODE + LABEL.gap;
  document.font('Helvetica-Bold', LABEL.size).text(reference, place.left, below, label);
  if (iccid === null) return;
  document.font('Helvetica', LABEL.smallSize).text(`ICCID ${iccid}`, place.left, below + LABEL.size + LABEL.gap, label);
}

/** Neighbouring dark modules, as one rectangle each. */
function* darkRuns(
  modules: QRCode.BitMatrix,
  row: number,
): Generator<{ readonly from: number; readonly length: number }> {
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
