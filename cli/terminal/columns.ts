import type { Money } from '#domain/money/money.ts';

export type Plain = string | number | boolean | null | undefined;

export type Column<Item> =
  | { readonly kind: 'text' | 'flexible' | 'status' | 'time'; readonly of: (item: Item) => Plain }
  | { readonly kind: 'money'; readonly of: (item: Item) => Money | null | undefined };

export type Columns<Item> = Readonly<Record<string, Column<Item>>>;

function columnOf(kind: 'text' | 'flexible' | 'status') {
  return <Item>(of: (item: Item) => Plain): Column<Item> => ({ kind, of });
}

export const text = columnOf('text');
export const flexible = columnOf('flexible');
/** The colour tells whether somebody has to act. */
export const status = columnOf('status');

/** RFC 3339. */
export function time<Item>(of: (item: Item) => string | null | undefined): Column<Item> {
  return { kind: 'time', of };
}

export function money<Item>(of: (item: Item) => Money | null | undefined): Column<Item> {
  return { kind: 'money', of };
}
