import { stringify } from 'csv-stringify/sync';
import type { Money } from '#domain/money/money.ts';

/** A text may come from anybody. This product made a safe value: no spreadsheet can run it as a formula. */
export type CsvField = string | number | { readonly safe: string } | null;

export function moneyNames(name: string): string[] {
  return name === 'amount' ? ['amount', 'currency'] : [`${name}_amount`, `${name}_currency`];
}

export function moneyFields(money: Money | null | undefined): CsvField[] {
  return money == null ? [null, null] : [{ safe: money.amount }, money.currency];
}

/** Makes Excel read a file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** Where a spreadsheet would begin a formula; in some countries `;` separates cells, also in the middle of a text. */
const FORMULA = /^(?=[\t\r])|(?<=^|[;|\t\r\n])(?=[ "]*[=+\-@＝＋－＠])/gu;

/** RFC 4180. A `'` stops a spreadsheet from running a text as a formula. @param lineEnd `unix` for pipes. */
export function csvLines(rows: readonly (readonly CsvField[])[], lineEnd: 'windows' | 'unix'): string {
  return stringify([...rows], {
    record_delimiter: lineEnd,
    // A reader may take either for the end of a line.
    quote_record_delimiter: true,
    cast: {
      string: (value) => value.replaceAll(FORMULA, "'"),
      object: (value) => String(value['safe']),
    },
  });
}
