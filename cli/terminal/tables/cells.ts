import type { Amount, Column, Plain } from '#cli/terminal/tables/columns.ts';
import { visible } from '#cli/terminal/visible-text.ts';

/** The text of a cell in a table; empty for a missing value. */
export function cellText<Item>(column: Column<Item>, item: Item): string {
  if (column.kind === 'money') return moneyText(column.of(item));
  const value = column.of(item);
  return column.kind === 'time' ? timeText(value) : plainText(value);
}

/** `2.40 USD`. */
export function moneyText(value: Amount | null | undefined): string {
  return value == null ? '' : visible(`${value.amount} ${value.currency}`);
}

/** `2030-01-31 12:00:00Z`: UTC, to the second. Other texts remain unchanged. */
export function timeText(value: Plain): string {
  const parts = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.\d+)?Z$/.exec(String(value ?? ''));
  return parts === null ? plainText(value) : `${parts[1]} ${parts[2]}Z`;
}

/** A value on one line, without characters that could change the terminal. */
function plainText(value: Plain): string {
  return visible(String(value ?? ''));
}
