/**
 * Reads QR codes back: an own decoder (ISO/IEC 18004, versions 1 to 10, level M, no noise), so that what a phone sees is checked by
 * something else than the library that draws it. Codewords are checked against their error correction, not repaired.
 */
import { inflateSync } from 'node:zlib';

/** Modules of a symbol, true for dark, without the quiet zone. */
export type Modules = readonly (readonly boolean[])[];

/** A symbol, and how wide its quiet zone is. */
export interface DrawnQr {
  readonly modules: Modules;
  readonly quietZone: number;
}

/** The symbol that a grey, palette-free or RGBA PNG of 8 bits, or one of 1 bit, shows. */
export function qrOfPng(png: Buffer): DrawnQr {
  const { width, height, isDark } = pixelsOf(png);
  let first = 0;
  while (!isDark(first, first)) first += 1;
  // The first finder pattern is seven modules wide.
  let end = first;
  while (isDark(end, first)) end += 1;
  const scale = (end - first) / 7;
  const size = (width - 2 * first) / scale;
  if (width !== height || !Number.isInteger(scale) || !Number.isInteger(size)) throw new Error('the PNG is no square of whole modules');
  const modules = square(size, (row, column) => isDark(first + (column + 0.5) * scale, first + (row + 0.5) * scale));
  return { modules, quietZone: first / scale };
}

/** The symbol that an SVG of horizontal strokes, one module thick, shows. */
export function qrOfSvg(svg: string): DrawnQr {
  const width = Number(/viewBox="0 0 (\d+) \d+"/.exec(svg)?.[1]);
  const path = /<path stroke="#000000" d="([^"]+)"/.exec(svg)?.[1] ?? '';
  const dark = new Set<string>();
  let [x, y] = [0, 0];
  for (const [, command = '', numbers = ''] of path.matchAll(/([Mmh])([\d .-]+)/g)) {
    const [one = 0, two = 0] = numbers.trim().split(' ').map(Number);
    if (command === 'M') [x, y] = [one, two];
    else if (command === 'm') [x, y] = [x + one, y + two];
    else for (let step = 0; step < one; step += 1, x += 1) dark.add(`${x},${Math.floor(y)}`);
  }
  let first = 0;
  while (!dark.has(`${first},${first}`)) if ((first += 1) > width) throw new Error('the SVG shows no symbol');
  return { modules: square(width - 2 * first, (row, column) => dark.has(`${first + column},${first + row}`)), quietZone: first };
}

/** The text that a symbol holds. @throws Error when it is not one, or damaged. */
export function textOfQr(modules: Modules): string {
  const size = modules.length;
  const version = (size - 17) / 4;
  const blocks = BLOCKS_M[version];
  if (blocks === undefined) throw new Error(`a symbol of ${size} modules is not one of versions 1 to 10`);
  const { level, mask } = formatOf(modules);
  if (level !== LEVEL_M) throw new Error('the symbol is not of level M');
  return textOf(dataOf(codewordsOf(modules, version, mask), blocks), version);
}

const LEVEL_M = 0;

/** By version: error correction codewords of a block, and the data codewords of each. */
const BLOCKS_M: readonly ({ readonly check: number; readonly data: readonly number[] } | undefined)[] = [
  undefined,
  { check: 10, data: [16] },
  { check: 16, data: [28] },
  { check: 26, data: [44] },
  { check: 18, data: [32, 32] },
  { check: 24, data: [43, 43] },
  { check: 16, data: [27, 27, 27, 27] },
  { check: 18, data: [31, 31, 31, 31] },
  { check: 22, data: [38, 38, 39, 39] },
  { check: 22, data: [36, 36, 36, 37, 37] },
  { check: 26, data: [43, 43, 43, 43, 44] },
];

const ALIGNMENT: readonly (readonly number[])[] = [
  [], [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
];

const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

function formatOf(modules: Modules): { level: number; mask: number } {
  const size = modules.length;
  const at = (row: number, column: number) => (modules[row]?.[column] === true ? 1 : 0);
  const one = [0, 1, 2, 3, 4, 5, 7, 8].map((column) => at(8, column)).concat([7, 5, 4, 3, 2, 1, 0].map((row) => at(row, 8)));
  const other = Array.from({ length: 7 }, (_, index) => at(size - 1 - index, 8)).concat(Array.from({ length: 8 }, (_, index) => at(8, size - 8 + index)));
  if (one.join('') !== other.join('')) throw new Error('the two copies of the format differ');
  const bits = Number.parseInt(one.join(''), 2) ^ 0x5412;
  return { level: bits >> 13, mask: (bits >> 10) & 7 };
}

function codewordsOf(modules: Modules, version: number, mask: number): number[] {
  const size = modules.length;
  const isMasked = MASKS[mask] ?? (() => false);
  const bits: number[] = [];
  let upwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    // The timing pattern has a column of its own.
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const row = upwards ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (!isFunction(row, column, version)) bits.push((modules[row]?.[column] === true) === isMasked(row, column) ? 0 : 1);
      }
    }
    upwards = !upwards;
  }
  return Array.from({ length: Math.floor(bits.length / 8) }, (_, index) => numberOf(bits, index * 8, 8));
}

function isFunction(row: number, column: number, version: number): boolean {
  const size = version * 4 + 17;
  const isFinder = (row <= 8 && (column <= 8 || column >= size - 8)) || (row >= size - 8 && column <= 8);
  if (isFinder || row === 6 || column === 6) return true;
  if (version >= 7 && ((row < 6 && column >= size - 11) || (column < 6 && row >= size - 11))) return true;
  const centres = ALIGNMENT[version] ?? [];
  const last = centres.at(-1) ?? 0;
  return centres.some((at) =>
    centres.some((across) => {
      const isAtFinder = (at === 6 && (across === 6 || across === last)) || (at === last && across === 6);
      return !isAtFinder && Math.abs(row - at) <= 2 && Math.abs(column - across) <= 2;
    }),
  );
}

function dataOf(codewords: readonly number[], { check, data }: NonNullable<(typeof BLOCKS_M)[number]>): number[] {
  const blocks = data.map((): number[] => []);
  let next = 0;
  for (let index = 0; index < Math.max(...data); index += 1) {
    for (const [block, length] of data.entries()) if (index < length) blocks[block]?.push(codewords[next++] ?? 0);
  }
  for (let index = 0; index < check; index += 1) for (const block of blocks) block.push(codewords[next++] ?? 0);
  for (const block of blocks) {
    for (let root = 0; root < check; root += 1) {
      if (block.reduce((sum, each) => times(sum, power(root)) ^ each, 0) !== 0) throw new Error('the symbol is damaged');
    }
  }
  return blocks.flatMap((block, index) => block.slice(0, data[index]));
}

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';

function textOf(data: readonly number[], version: number): string {
  const bits = data.flatMap((each) => Array.from({ length: 8 }, (_, index) => (each >> (7 - index)) & 1));
  let at = 0;
  const take = (length: number) => numberOf(bits, (at += length) - length, length);
  const bytes: number[] = [];
  const write = (text: string) => void bytes.push(...Buffer.from(text, 'latin1'));
  while (bits.length - at >= 4) {
    const mode = take(4);
    if (mode === 0) break;
    if (mode === 1) {
      for (let left = take(version < 10 ? 10 : 12); left > 0; left -= 3) {
        const digits = Math.min(left, 3);
        write(String(take([0, 4, 7, 10][digits] ?? 0)).padStart(digits, '0'));
      }
    } else if (mode === 2) {
      for (let left = take(version < 10 ? 9 : 11); left > 0; left -= 2) {
        if (left === 1) write(ALPHANUMERIC.charAt(take(6)));
        else {
          const pair = take(11);
          write(ALPHANUMERIC.charAt(Math.floor(pair / 45)) + ALPHANUMERIC.charAt(pair % 45));
        }
      }
    } else if (mode === 4) {
      for (let left = take(version < 10 ? 8 : 16); left > 0; left -= 1) bytes.push(take(8));
    } else throw new Error(`mode ${mode} is not read`);
  }
  return Buffer.from(bytes).toString('utf8');
}

function numberOf(bits: readonly number[], from: number, length: number): number {
  return bits.slice(from, from + length).reduce((sum, bit) => sum * 2 + bit, 0);
}

/** In GF(256) with the polynomial of the standard. */
function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ (product & 0x80 ? 0x11d : 0);
    if ((other >> bit) & 1) product ^= one;
  }
  return product & 0xff;
}

function power(exponent: number): number {
  return Array.from({ length: exponent }).reduce((product: number) => times(product, 2), 1);
}

function square(size: number, isDark: (row: number, column: number) => boolean): Modules {
  return Array.from({ length: size }, (_, row) => Array.from({ length: size }, (_column, column) => isDark(row, column)));
}

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

function pixelsOf(png: Buffer): { width: number; height: number; isDark: (x: number, y: number) => boolean } {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  const header = chunks.find(({ type }) => type === 'IHDR')?.data;
  if (header === undefined) throw new Error('no PNG');
  const [width, height, depth, colour] = [header.readUInt32BE(0), header.readUInt32BE(4), header.readUInt8(8), header.readUInt8(9)];
  if (depth !== 8 || header.readUInt8(12) !== 0 || colour === 3) throw new Error(`a PNG of ${depth} bits and colour type ${colour} is not read`);
  const channels = CHANNELS[colour] ?? 1;
  const raw = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row += 1) {
    const filter = raw.readUInt8(row * (stride + 1));
    for (let index = 0; index < stride; index += 1) {
      const left = index < channels ? 0 : pixels.readUInt8(row * stride + index - channels);
      const up = row === 0 ? 0 : pixels.readUInt8((row - 1) * stride + index);
      const corner = row === 0 || index < channels ? 0 : pixels.readUInt8((row - 1) * stride + index - channels);
      const predicted = [0, left, up, Math.floor((left + up) / 2), paeth(left, up, corner)][filter] ?? 0;
      pixels.writeUInt8((raw.readUInt8(row * (stride + 1) + 1 + index) + predicted) & 0xff, row * stride + index);
    }
  }
  return { width, height, isDark: (x, y) => pixels.readUInt8(Math.floor(y) * stride + Math.floor(x) * channels) < 128 };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
