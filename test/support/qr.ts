/** Reads QR codes with another library than the one that draws them. */
import { PNG } from 'pngjs';
import decodeQr from 'qr/decode.js';

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Four bytes for each pixel. */
  readonly data: Uint8Array;
}

/** Reads a PNG. @throws Error if the picture has no readable code. */
export const qrOfPng = (png: Buffer) => qrOfPicture(PNG.sync.read(png));

/** Pixels for one module of an SVG. The decoder needs several. */
const SCALE = 4;

/** Reads an SVG of horizontal strokes, one module thick. @throws Error if the picture has no readable code. */
export function qrOfSvg(svg: string) {
  const modules = Number(/viewBox="0 0 (\d+) \d+"/.exec(svg)?.[1]);
  const path = /<path stroke="#000000" d="([^"]+)"/.exec(svg)?.[1] ?? '';
  const width = modules * SCALE;
  const data = new Uint8Array(width * width * 4).fill(0xff);
  const darken = (column: number, row: number) => {
    for (let y = row * SCALE; y < (row + 1) * SCALE; y += 1) {
      const from = (y * width + column * SCALE) * 4;
      for (let at = from; at < from + SCALE * 4; at += 1) if (at % 4 !== 3) data[at] = 0;
    }
  };
  let [x, y] = [0, 0];
  for (const [, command = '', numbers = ''] of path.matchAll(/([Mmh])([\d .-]+)/g)) {
    const [one = 0, two = 0] = numbers.trim().split(' ').map(Number);
    if (command === 'M') [x, y] = [one, two];
    else if (command === 'm') [x, y] = [x + one, y + two];
    else for (const end = x + one; x < end; x += 1) darken(x, Math.floor(y));
  }
  return qrOfPicture({ width, height: width, data });
}

/**
 * Reads a picture. @throws Error if it has no readable code.
 *
 * @returns the text, and the width of the light border in modules. The standard requires four.
 */
export function qrOfPicture(picture: Picture) {
  const isDark = (at: number, row: number) => (picture.data[(row * picture.width + at) * 4] ?? 0xff) < 0x80;
  let first = 0;
  while (first < picture.width && !isDark(first, first)) first += 1;
  let end = first;
  while (end < picture.width && isDark(end, first)) end += 1;
  const finderModules = 7;
  return { text: decodeQr(picture), quietZone: first / ((end - first) / finderModules) };
}
