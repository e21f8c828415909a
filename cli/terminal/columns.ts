export interface Amount {
  readonly amount: string;
  readonly currency: string;
}

export type Plain = string | number | boolean | null | undefined;

export type Column<Item> =
  | { readonly kind: 'text' | 'flexible' | 'status' | 'time'; readonly of: (item: Item) => Plain }
  | { readonly kind: 'money'; readonly of: (item: Item) => Amount | null | undefined };

export type Columns<Item> = Readonly<Record<string, Column<Item>>>;

export function text<Item>(of: (item: Item) => Plain): Column<Item> {
  return { kind: 'text', of };
}

export function flexible<Item>(of: (item: Item) => Plain): Column<Item> {
  return { kind: 'flexible', of };
}

/** The colour tells whether somebody has to act. */
export function status<Item>(of: (item: Item) => Plain): Column<Item> {
  return { kind: 'status', of };
}

/** RFC 3339. */
export function time<Item>(of: (item: Item) => string | null | undefined): Column<Item> {
  return { kind: 'time', of };
}

export function money<Item>(of: (item: Item) => Amount | null | undefined): Column<Item> {
  return { kind: 'money', of };
}
