import { type Output, printText } from '#cli/terminal/output.ts';
import type { Column, Columns } from '#cli/terminal/tables/columns.ts';
import { csvLines, moneyFields, moneyNames, type CsvField } from '#outbound/csv.ts';

/**
 * Prints items as CSV (RFC 4180) with a line of field names; an amount and its currency are two fields. A text that a
 * spreadsheet would run as a formula gets a `'` in front.
 */
export function printCsv<Item>(output: Output, columns: Columns<Item>, items: readonly Item[]): void {
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
