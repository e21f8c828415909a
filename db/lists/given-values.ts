/** Values that are known when a query is built, or given later as placeholders. */
import type { Placeholder } from 'drizzle-orm';

/** Where a page ended; the next one starts after it. */
export interface PagePosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface PageOptions {
  readonly limit: number;
  /** End of the previous page. */
  readonly after?: PagePosition | undefined;
}

/** A value, or its placeholder in a prepared query. */
export type Given<Value> = Value | Placeholder;
type AllGiven<Values> = { readonly [Name in keyof Values]: Given<Values[Name]> };

/** A filter with {@link Given} values. Absent fields do not filter. */
export type GivenFilter<Filter> = {
  readonly [Name in keyof Filter]: Filter[Name] extends readonly (infer Item)[] | undefined
    ? readonly Given<Item>[] | undefined
    : Given<Filter[Name]>;
};

export interface GivenPage {
  readonly limit: Given<number>;
  readonly after?: AllGiven<PagePosition> | undefined;
}
