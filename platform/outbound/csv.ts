import { stringify } from 'csv-stringify/sync';
import type { Money } from '#domain/money/money.ts';

/** A value that no spreadsheet can run as a formula, because this product made it: an amount, a time. */
interface SafeText {
  readonly safe: string;
}

/** A field of a CSV file. A text may come from anybody. */
export type CsvField = string | number | SafeText | null;

/** The names of the two fields of an amount. @param name of the amount. */
export function moneyNames(name: string): string[] {
  return name === 'amount' ? ['amount', 'currency'] : [`${name}_amount`, `${name}_currency`];
}

export function moneyFields(money: Money | null | undefined): CsvField[] {
  return money == null ? [null, null] : [{ safe: money.amount }, money.currency];
}

/** Makes Excel read a file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Where a cell of a spreadsheet would begin with a formula. In some countries the separator is a `;`, which begins a
 * cell in the middle of a text, quoted or not.
 */
const FORMULA = /^(?=[\t\r])|(?<=^|[;|\t\r\n])(?=[ "]*[=+\-@＝＋－＠])/gu;

/**
 * Lines of a CSV file (RFC 4180). A text that a spreadsheet would run as a formula gets a `'` in front of that. A
 * number and an amount below zero stay as they are.
 *
 * @param lineEnd `windows` as the standard says, or `unix` for pipes.
 */
export function csvLines(rows: readonly (readonly CsvField[])[], lineEnd: 'windows' | 'unix'): string {
  return stringify([...rows], {
    record_delimiter: lineEnd,
    // A reader may take either of the two for the end of a line, whatever the others end with.
    quote_record_delimiter: true,
    cast: {
      string: (value) => value.replaceAll(FORMULA, "'"),
      object: (value) => String(value['safe']),
    },
  });
}
