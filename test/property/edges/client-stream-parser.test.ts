import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamParser, type StreamBlock } from '#clients/typescript/src/events.ts';
import { assertForAll } from '#test/support/for-all.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The result of a parser for bytes in these parts. */
function read(parts: readonly Uint8Array[]): { blocks: StreamBlock[]; retryMs: number | undefined } {
  const parser = new StreamParser();
  const blocks = parts.flatMap((part) => parser.push(part));
  return { blocks, retryMs: parser.retryMs };
}
const dataOf = (text: string) => read([bytesOf(text)]).blocks.map(({ data }) => data);

/** Splits bytes at these positions, also inside a character. */
function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const inner = at.map((place) => place % (bytes.length + 1)).toSorted((left, right) => left - right);
  const places = [0, ...inner, bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

const places = fc.array(fc.nat(), { maxLength: 30 });
const ofTheFormat = ['\n', '\r', '\r\n', ':', ' ', 'data', 'id', 'retry', 'event', '1', '\0'];
/** Also characters of one to four bytes. */
const letter = fc.constantFrom(...ofTheFormat, 'a', 'ü', '€', '😀', '\uFEFF');
const value = fc.array(letter, { maxLength: 6 }).map((letters) => letters.join('').replaceAll(/[\r\n\0]/g, ''));

const written = fc.record({
  id: fc.option(value, { nil: undefined }),
  data: fc.array(value, { maxLength: 3 }),
  comment: value,
});
type Written = typeof written extends fc.Arbitrary<infer Value> ? Value : never;

function textOf(blocks: readonly Written[], end: string): string {
  return blocks
    .flatMap(({ id, data, comment }) => [
      `:${comment}`,
      ...(id === undefined ? [] : [`id: ${id}`]),
      'event: any',
      ...data.map((line) => `data: ${line}`),
      '',
    ])
    .map((line) => line + end)
    .join('');
}

describe('a stream of server-sent events', () => {
  it('returns the written events, for any line end and any split', () => {
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
    assertForAll(fc.array(written, { maxLength: 6 }), lineEnd, places, (blocks, end, at) => {
      let id = '';
      const expected = blocks.map((block) => {
        id = block.id ?? id;
        return { lastEventId: id, data: block.data.length === 0 ? undefined : block.data.join('\n') };
      });
      expect(read(cut(bytesOf(textOf(blocks, end)), at)).blocks).toEqual(expected);
    });
  });

  it('is complete as soon as its blank line arrives, also when that may be half of a line end', () => {
    for (const end of ['\n', '\r', '\r\n']) expect(dataOf(`data: one${end}${end}`)).toEqual(['one']);
    expect(dataOf('data: one\r\rdata: two\r\n\ndata: three\n\r\n')).toEqual(['one', 'two', 'three']);
  });
});

describe('a field', () => {
  it('is ignored when it is unknown, and so is an id with NUL', () => {
    const { blocks } = read([bytesOf('id: before\nData: x\nname: y\nid: a\0b\ndata: z\n\n')]);
    expect(blocks).toEqual([{ lastEventId: 'before', data: 'z' }]);
  });

  it('retry contains the delay, in digits only', () => {
    expect(read([bytesOf('retry: 1500\nretry: 2s\nretry\nretry: -1\n')]).retryMs).toBe(1_500);
  });

  it('may follow one byte order mark at the start', () => {
    expect(dataOf('\uFEFFdata: a\n\n')).toEqual(['a']);
    expect(dataOf('\uFEFF\uFEFFdata: a\n\n')).toEqual([undefined]);
    const { blocks } = read([bytesOf('\uFEFF'), bytesOf('\uFEFFdata: a\n\n')]);
    expect(blocks).toEqual([{ lastEventId: '', data: undefined }]);
  });
});
