import { findReadingOfRun, type CatalogueReadingRow } from '#db/catalogue/catalogue.ts';
import type { CatalogueItems, CatalogueName, ReadCatalogue } from '#domain/catalogue/catalogue.ts';
import type { CataloguePolicy } from '#domain/policy/upkeep-policy.ts';
import { recordReading } from '#fulfilment/catalogue/record-reading.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { readPackages, readPlans } from '#upstream/mapping/catalogue.ts';

type CatalogueDependencies = Pick<WorkDependencies, 'database' | 'service' | 'now'> & {
  readonly catalogue: CataloguePolicy;
  readonly logger: Logger;
};

/** `not_read`: the service did not answer; nothing was recorded. */
type CatalogueResult =
  | { readonly verdict: 'not_read' }
  | Pick<CatalogueReadingRow, 'verdict' | 'created' | 'changed' | 'removed'>;

export function createCatalogueActivities(dependencies: CatalogueDependencies) {
  const { database, service, catalogue: policy, logger, now } = dependencies;
  const bounds = { maxPages: policy.pages, deadlineMs: policy.readDeadlineMs };

  /** Nothing is read again for a run that is known. */
  const readOnce = async <Name extends CatalogueName>(
    name: Name,
    runId: string,
    read: () => Promise<ServiceResult<ReadCatalogue<CatalogueItems[Name]>>>,
  ): Promise<CatalogueResult> => {
    const known = await database.run((db) => findReadingOfRun(db, name, runId));
    if (known !== undefined) return resultOf(known);
    const run = { runId, readAt: new Date(now()) };
    const found = await read();
    if (!found.ok) {
      logger.warn({ catalogue: name, failure: found.failure }, `the catalogue was not read: ${found.detail}`);
      return { verdict: 'not_read' };
    }
    const reading = await database.transaction((tx) => recordReading(tx, name, found.value, run, policy));
    logReading(logger, reading);
    return resultOf(reading);
  };

  return {
    /** Stores and announces what has changed. The same `runId` makes one reading of each catalogue. */
    async readCatalogue({ runId }: { runId: string }): Promise<{
      packages: CatalogueResult;
      vpnPlans: CatalogueResult;
    }> {
      const packages = await readOnce('packages', runId, () => readPackages(service, bounds));
      const vpnPlans = await readOnce('vpn_plans', runId, () => readPlans(service, bounds));
      return { packages, vpnPlans };
    },
  };
}

function resultOf({ verdict, created, changed, removed }: CatalogueReadingRow): CatalogueResult {
  return { verdict, created, changed, removed };
}

function logReading(logger: Logger, { catalogue, verdict, items, suspected, ...counts }: CatalogueReadingRow): void {
  const { created, changed, removed } = counts;
  const found = { catalogue, items, created, changed, removed };
  if (verdict === 'suspicious') {
    logger.error(
      { ...found, missing: suspected.length },
      'the service suddenly lists far fewer items; the catalogue stays as it is until a second reading confirms it',
    );
  } else if (verdict === 'incomplete') {
    logger.warn(found, 'the catalogue may have more items than were read; none was removed');
  } else logger.info(found, 'the catalogue was read');
}
