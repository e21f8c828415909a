import { type Output, printJson, printLine } from '#cli/terminal/output.ts';
import { paintFor } from '#cli/terminal/tables/colours.ts';
import type { Columns } from '#cli/terminal/tables/columns.ts';
import { printCsv } from '#cli/terminal/tables/csv.ts';
import { columnsOf, printDetails } from '#cli/terminal/tables/details.ts';
import { printTable } from '#cli/terminal/tables/table.ts';
import type { Environment } from '#config/environment.ts';

/** The options for the form of the output; without one it is a table. */
export interface FormatOptions {
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** Prints a list in the wanted form. JSON contains the items as the API sends them. @param none for an empty table. */
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

/** Prints one object in the wanted form. */
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
