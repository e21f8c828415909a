/** Readings of the catalogue, recorded as the schedule does. */
import type { Database } from '#db/connection/database.ts';
import type { CatalogueItem, CatalogueItems, CatalogueName, CataloguePackage } from '#domain/catalogue/catalogue.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { recordReading } from '#fulfilment/catalogue/record-reading.ts';

export const SAMPLE_PACKAGE: CataloguePackage = {
  id: 1,
  name: 'Europe 5 GB',
  countries: ['DE', 'FR'],
  dataMb: 5_120,
  unlimited: false,
  days: 30,
  price: { amount: '9.80', currency: 'EUR' },
  publicPrice: null,
  available: true,
};

export const SAMPLE_PLAN: CatalogueItem = {
  id: 1,
  name: 'VPN, one month',
  days: 30,
  price: { amount: '3.20', currency: 'EUR' },
  available: true,
};

/** Records a complete reading; the test decides what is listed, so that none is suspicious. */
export async function recordCatalogue<Name extends CatalogueName>(
  database: Database,
  catalogue: Name,
  items: readonly CatalogueItems[Name][],
  readAt: Date,
): Promise<void> {
  const run = { runId: readAt.toISOString(), readAt };
  const policy = { ...DEFAULT_POLICY.catalogue, maxDropShare: 1 };
  await database.transaction((tx) => recordReading(tx, catalogue, { items, complete: true }, run, policy));
}
