/** What the service offers, as we keep it. */
import type { Money } from '#domain/money/money.ts';

/** The two catalogues; they are read separately. */
export const CATALOGUES = ['packages', 'vpn_plans'] as const;

export type CatalogueName = (typeof CATALOGUES)[number];

/** What packages and VPN plans have in common. */
export interface CatalogueItem {
  /** The service's id. */
  readonly id: number;
  readonly name: string;
  /** Days of validity, or of one period; null: not known. */
  readonly days: number | null;
  /** What the service charges us. */
  readonly price: Money;
  /** False while the service does not sell it. */
  readonly available: boolean;
}

/** A package. */
export interface CataloguePackage extends CatalogueItem {
  /** ISO 3166-1 alpha-2 codes. */
  readonly countries: readonly string[];
  /** Megabytes; null when they are unlimited or not known. */
  readonly dataMb: number | null;
  /** Null: not known. */
  readonly unlimited: boolean | null;
  /** The public price; null: the service shows none. */
  readonly publicPrice: Money | null;
}

/** The items of a catalogue. */
export interface CatalogueItems {
  readonly packages: CataloguePackage;
  readonly vpn_plans: CatalogueItem;
}

/** A catalogue as read at one time. */
export interface ReadCatalogue<Item extends CatalogueItem> {
  readonly items: readonly Item[];
  /** False when there may be more items. Then a missing item proves nothing. */
  readonly complete: boolean;
  /** Ids of items whose public price was not read, so that it is not known to have changed. */
  readonly withoutPublicPrice?: ReadonlySet<number>;
}
