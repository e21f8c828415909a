import { randomUUID } from 'node:crypto';
import type { ApiDependencies } from '#api/dependencies.ts';
import { valueOf } from '#api/problems/problem.ts';
import { catalogueReadAt } from '#db/catalogue/catalogue.ts';
import type { CatalogueItems, CatalogueName, ReadCatalogue } from '#domain/catalogue/catalogue.ts';
import { CATALOGUE_POLICY } from '#domain/policy/upkeep-policy.ts';
import { recordReading } from '#fulfilment/catalogue/record-reading.ts';
import { CachedRead } from '#upstream/cached-read.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { readPackages, readPlans } from '#upstream/mapping/catalogue.ts';

/** As many pages as the worker reads: a part of the catalogue would be an incomplete reading. */
const BOUNDS = { maxPages: CATALOGUE_POLICY.pages };

/** The worker reads it from the service. Before its first reading the API reads it, once for all requests that wait. */
export class StoredCatalogue {
  readonly #database: ApiDependencies['database'];
  readonly #firstReadings: Readonly<Record<CatalogueName, CachedRead<Date>>>;

  constructor({ database, service, now }: Pick<ApiDependencies, 'database' | 'service' | 'now'>) {
    this.#database = database;
    const first = <Name extends CatalogueName>(
      name: Name,
      read: () => Promise<ServiceResult<ReadCatalogue<CatalogueItems[Name]>>>,
    ) => {
      const readOnce = async () => {
        const run = { runId: randomUUID(), readAt: new Date(now()) };
        const found = valueOf(await read());
        return (await database.transaction((tx) => recordReading(tx, name, found, run, CATALOGUE_POLICY))).readAt;
      };
      return new CachedRead(readOnce, { maxAgeMs: 0, now });
    };
    this.#firstReadings = {
      packages: first('packages', () => readPackages(service, BOUNDS)),
      vpn_plans: first('vpn_plans', () => readPlans(service, BOUNDS)),
    };
  }

  /**
   * Epoch milliseconds.
   * @throws Problem service_timeout, service_unavailable, service_failed when it was never read and cannot be read now.
   */
  async readAt(catalogue: CatalogueName): Promise<number> {
    const stored = await this.#database.run((db) => catalogueReadAt(db, catalogue));
    return (stored ?? (await this.#firstReadings[catalogue].get()).value).getTime();
  }
}
