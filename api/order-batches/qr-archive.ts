import { Zip, ZipPassThrough } from 'fflate';
import { qrCodePng } from '#api/esims/qr-code.ts';

/** An activation code with the names by which people find it. */
export interface LabelledCode {
  /** The caller's reference of the order. */
  readonly reference: string;
  readonly iccid: string | null;
  /** The LPA string. */
  readonly text: string;
}

/** Sharp when printed 2.5 cm wide. The time for an image grows with its area: with 10 pixels it doubles. */
const PIXELS_PER_MODULE = 6;

/** Files of a batch have a time without a meaning: the format has no time zone. */
const NO_TIME = new Date(1980, 0, 1);

/**
 * A ZIP archive with a PNG image of each code. The images are compressed already, so they are stored as they are. One
 * image at a time is made: other requests are answered in between.
 */
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
 * A name that every file system accepts, which contains no path. The last characters of a reference of a batch's order
 * are its position, so the names stay different.
 */
function fileStem(reference: string): string {
  return reference.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^[.-]/, '_');
}
