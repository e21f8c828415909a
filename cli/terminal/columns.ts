/** Columns of the tables that commands print, also as CSV. */

/** An amount with its currency, as the API sends it. */
export interface Amount {
  readonly amount: string;
  readonly currency: string;
}

/** A value without a form of its own. */
export type Plain = string | number | boolean | null | undefined;

/** A column. @typeParam Item - what a row shows. */
export type Column<Item> =
  | { readonly kind: 'text' | 'flexible' | 'status' | 'time'; readonly of: (item: Item) => Plain }
  | { readonly kind: 'money'; readonly of: (item: Item) => Amount | null | undefined };

/** Columns by the name of the field. */
export type Columns<Item> = Readonly<Record<string, Column<Item>>>;

/** Any value, on the left; a number on the right. */
export function text<Item>(of: (item: Item) => Plain): Column<Item> {
  return { kind: 'text', of };
}

/** A text that is shortened on a narrow terminal. */
export function flexible<Item>(of: (item: Item) => Plain): Column<Item> {
  return { kind: 'flexible', of };
}

/** A status, whose colour tells whether somebody has to act. */
export function status<Item>(of: (item: Item) => Plain): Column<Item> {
  return { kind: 'status', of };
}

/** An RFC 3339 time. */
export function time<Item>(of: (item: Item) => string | null | undefined): Column<Item> {
  return { kind: 'time', of };
}

/** An amount of money, on the right. */
export function money<Item>(of: (item: Item) => Amount | null | undefined): Column<Item> {
  return { kind: 'money', of };
}
