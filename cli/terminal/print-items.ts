import { styleText } from 'node:util';
import { eastAsianWidth } from 'get-east-asian-width';
import type { Columns, Column, Plain } from '#cli/terminal/columns.ts';
import { type Output, printJson, printLine, printText, visible } from '#cli/terminal/output.ts';
import type { Environment } from '#config/environment.ts';
import type { Money } from '#domain/money/money.ts';
import { csvLines, moneyFields, moneyNames, type CsvField } from '#outbound/csv.ts';

export interface FormatOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
}

export function printItems<Item>(
  { json, csv }: FormatOptions,
  columns: Columns<Item>,
  items: readonly Item[],
  { output, environment, none }: { output: Output; environment: Environment; none: string },
): void {
  if (json === true) printJson(output, items);
  else if (csv === true) printCsv(output, columns, items);
  else if (items.length === 0) printLine(output, none);
  else printTable(output, columns, items, paintFor(output, environment));
}

export function printObject(
  { json, csv }: FormatOptions,
  object: unknown,
  output: Output,
  environment: Environment,
): void {
  if (json === true) printJson(output, object);
  else if (csv === true) printCsv(output, columnsOf(object), [object]);
  else printDetails(output, object, paintFor(output, environment));
}

const GAP = '  ';
const LEAST_WIDTH = 8;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A terminal omits empty columns and shortens flexible ones; programs get everything. */
function printTable<Item>(output: Output, columns: Columns<Item>, items: readonly Item[], paint: Paint): void {
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

function titleOf(name: string): string {
  return name.replaceAll('_', ' ').toUpperCase();
}

function painted<Item>(column: Column<Item> | undefined, text: string, paint: Paint): string {
  const style = column?.kind === 'status' ? STATUS_STYLES.get(text) : column?.kind === 'time' ? 'dim' : undefined;
  return style === undefined ? text : paint(style, text);
}

/** Pads before painting: colours have no width. */
function aligned<Item>({ kind }: Column<Item>, text: string, width: number, style: (text: string) => string): string {
  const short = shortened(text, width);
  const space = ' '.repeat(Math.max(0, width - widthOf(short)));
  return kind === 'money' ? space + style(short) : style(short) + space;
}

/** The widest column is shortened first. */
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

/** An East Asian character takes two columns. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += eastAsianWidth(segment.codePointAt(0) ?? 0);
  return width;
}

function printDetails(output: Output, object: unknown, paint: Paint): void {
  const lines = fieldsOf(object).flatMap(([name, value]): [string, string][] => {
    const shown = isAmount(value) ? moneyText(value) : timeText(value);
    const style = name === 'status' ? STATUS_STYLES.get(shown) : undefined;
    return shown === '' ? [] : [[visible(name), style === undefined ? shown : paint(style, shown)]];
  });
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  for (const [name, shown] of lines) output.write(`${paint('dim', name.padEnd(width))}  ${shown}\n`);
}

function columnsOf(object: unknown): Columns<unknown> {
  return Object.fromEntries(
    fieldsOf(object).map(([name, value]) => [
      name,
      isAmount(value) ? { kind: 'money', of: () => value } : { kind: 'text', of: () => value },
    ]),
  );
}

/** `.` between the names of nested fields. A list of texts is one field. */
function fieldsOf(value: unknown, name = ''): (readonly [string, Plain | Money])[] {
  if (isPlain(value) || isAmount(value)) return name === '' && value == null ? [] : [[name, value]];
  if (Array.isArray(value) && value.every(isPlain)) return [[name, value.map(String).join(', ')]];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    fieldsOf(inner, name === '' ? key : `${name}.${key}`),
  );
}

function isPlain(value: unknown): value is Plain {
  return value == null || typeof value !== 'object';
}

function isAmount(value: unknown): value is Money {
  return typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'amount,currency';
}

/** RFC 4180; an amount and its currency are two fields. A `'` stops a spreadsheet from running a text as a formula. */
function printCsv<Item>(output: Output, columns: Columns<Item>, items: readonly Item[]): void {
  const fields = Object.entries(columns);
  const header = fields.flatMap(([name, { kind }]) => (kind === 'money' ? moneyNames(name) : [name]));
  const rows = items.map((item) => fields.flatMap(([, column]) => valuesOf(column, item)));
  printText(output, csvLines([header, ...rows], 'unix'));
}

function valuesOf<Item>(column: Column<Item>, item: Item): CsvField[] {
  if (column.kind === 'money') return moneyFields(column.of(item));
  const value = column.of(item);
  return [typeof value === 'number' ? value : String(value ?? '')];
}

function cellText<Item>(column: Column<Item>, item: Item): string {
  if (column.kind === 'money') return moneyText(column.of(item));
  const value = column.of(item);
  return column.kind === 'time' ? timeText(value) : plainText(value);
}

function moneyText(value: Money | null | undefined): string {
  return value == null ? '' : visible(`${value.amount} ${value.currency}`);
}

/** `2030-01-31 12:00:00Z`. Other texts remain unchanged. */
export function timeText(value: Plain): string {
  const parts = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?Z$/.exec(String(value ?? ''));
  return parts === null ? plainText(value) : `${parts[1]} ${parts[2]}Z`;
}

/** Contains no characters that could change the terminal. */
function plainText(value: Plain): string {
  return visible(String(value ?? ''));
}

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

export type Paint = (style: Style, text: string) => string;

/** Colours only on a terminal, and not with NO_COLOR (https://no-color.org) or TERM=dumb. */
export function paintFor(output: Output, environment: Environment): Paint {
  const wanted = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  return output.isTTY === true && wanted
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}

const STATUSES: Partial<Record<Style, readonly string[]>> = {
  green: ['completed', 'active', 'delivered', 'enabled', 'closed'],
  cyan: ['accepted', 'processing', 'submitting', 'pending', 'cancelling'],
  yellow: ['held'],
  red: ['needs_attention', 'failed', 'refused', 'disabled'],
  dim: ['abandoned', 'cancelled', 'expired'],
};
const STATUS_STYLES = new Map(
  Object.entries(STATUSES).flatMap(([style, statuses]) => statuses.map((status) => [status, style as Style] as const)),
);
