/** Values that may be known when a query is built, or be given later as placeholders. */
import type { Placeholder } from 'drizzle-orm';

/** Where a page ended: the next one starts after it. */
export interface PagePosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface PageOptions {
  readonly limit: number;
  /** The end of the page before. */
  readonly after?: PagePosition | undefined;
}

/** A value, or its place in a query that is built before it is known. */
export type Given<Value> = Value | Placeholder;
type AllGiven<Values> = { readonly [Name in keyof Values]: Given<Values[Name]> };

/** A filter whose values are {@link Given}. What is left out does not narrow. */
export type GivenFilter<Filter> = {
  readonly [Name in keyof Filter]: Filter[Name] extends readonly (infer Item)[] | undefined
    ? readonly Given<Item>[] | undefined
    : Given<Filter[Name]>;
};

export interface GivenPage {
  readonly limit: Given<number>;
  readonly after?: AllGiven<PagePosition> | undefined;
}
