import { eastAsianWidth } from 'get-east-asian-width';
import type { Output } from '#cli/terminal/output.ts';
import { cellText } from '#cli/terminal/tables/cells.ts';
import { type Paint, styleOfStatus } from '#cli/terminal/tables/colours.ts';
import type { Column, Columns } from '#cli/terminal/tables/columns.ts';

const GAP = '  ';
/** A shortened column keeps at least this width. */
const LEAST_WIDTH = 8;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Prints items as a table with a line of headers. On a terminal, columns without a value are left out, and flexible
 * ones are shortened until the lines fit; elsewhere every column is printed in full, so that programs can read it.
 */
export function printTable<Item>(output: Output, columns: Columns<Item>, items: readonly Item[], paint: Paint): void {
  const shown = Object.entries(columns)
    .map(([name, column]) => ({ column, title: titleOf(name), cells: items.map((item) => cellText(column, item)) }))
    .filter(({ cells }) => output.isTTY !== true || cells.some((cell) => cell !== ''));
  const widths = fitting(
    shown.map(({ title, cells, column }) => ({ column, width: Math.max(...[title, ...cells].map(widthOf)) })),
    output.isTTY === true ? output.columns : undefined,
  );
  const lineOf = (texts: readonly string[], style: (text: string, at: number) => string): string =>
    shown
      .map(({ column }, at) => aligned(column, texts[at] ?? '', widths[at] ?? 0, (text) => style(text, at)))
      .join(GAP)
      .trimEnd();
  const headers = shown.map(({ title }) => title);
  output.write(`${lineOf(headers, (text) => paint('bold', text))}\n`);
  for (const row of items.keys()) {
    const texts = shown.map(({ cells }) => cells[row] ?? '');
    output.write(`${lineOf(texts, (text, at) => painted(shown[at]?.column, text, paint))}\n`);
  }
}

/** `CREATED AT` of `created_at`. */
function titleOf(name: string): string {
  return name.replaceAll('_', ' ').toUpperCase();
}

function painted<Item>(column: Column<Item> | undefined, text: string, paint: Paint): string {
  const style = column?.kind === 'status' ? styleOfStatus(text) : column?.kind === 'time' ? 'dim' : undefined;
  return style === undefined ? text : paint(style, text);
}

/** Pads a text before it is painted, because colours have no width. */
function aligned<Item>({ kind }: Column<Item>, text: string, width: number, style: (text: string) => string): string {
  const short = shortened(text, width);
  const space = ' '.repeat(Math.max(0, width - widthOf(short)));
  return kind === 'money' ? space + style(short) : style(short) + space;
}

/** Takes the missing width from the flexible columns, the widest first. */
function fitting<Item>(
  columns: readonly { readonly column: Column<Item>; readonly width: number }[],
  available: number | undefined,
): number[] {
  const widths = columns.map(({ width }) => width);
  if (available === undefined) return widths;
  let missing = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - available;
  const candidates = columns
    .flatMap(({ column, width }, at) => (column.kind === 'flexible' ? [{ at, width }] : []))
    .toSorted((one, other) => other.width - one.width);
  for (const { at, width } of candidates) {
    const taken = Math.max(0, Math.min(missing, width - LEAST_WIDTH));
    widths[at] = width - taken;
    missing -= taken;
  }
  return widths;
}

function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let short = '';
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (widthOf(short) + widthOf(segment) + 1 > width) break;
    short += segment;
  }
  return `${short}…`;
}

/** The columns that a text takes on a terminal: two for each East Asian character. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += eastAsianWidth(segment.codePointAt(0) ?? 0);
  return width;
}
