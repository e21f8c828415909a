/** The activities of a bench, with the intervals and limits of its tests. */
import { createBooksActivities } from '#activities/upkeep/books.ts';
import { createCatalogueActivities } from '#activities/upkeep/catalogue.ts';
import { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import { createWatchActivities } from '#activities/upkeep/watch.ts';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { BooksPolicy, ReconcilePolicy, WatchPolicy } from '#domain/policy/upkeep-policy.ts';
import type { Capabilities } from '#domain/service/capability-profile.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import type { Logger } from '#telemetry/logger.ts';

export interface ActivityBenchOptions {
  readonly capabilities?: Partial<Capabilities>;
  readonly books?: Partial<BooksPolicy>;
  readonly reconcile?: Partial<ReconcilePolicy>;
  readonly watch?: Partial<WatchPolicy>;
}

interface Parts extends ActivityBenchOptions {
  readonly logger: Logger;
  readonly findRunning: (work: readonly WorkRef[]) => Promise<ReadonlySet<string>>;
}

/** All activities except those of webhook endpoints. */
export function createBenchActivities(
  dependencies: WorkDependencies,
  { books, reconcile, watch, logger, findRunning }: Parts,
) {
  return {
    ...createWorkActivities(dependencies),
    ...createMaintenanceActivities({
      ...dependencies,
      reconcile: { ...DEFAULT_POLICY.reconcile, silentAfterMs: 60_000, everyMs: 1_000, readsPerRun: 100, ...reconcile },
      webhookSilence: DEFAULT_POLICY.webhookSilence,
      logger,
      outbound: DEFAULT_POLICY.outbound,
      sweep: { ...DEFAULT_POLICY.sweep, idleAfterMs: 60_000, everyMs: 1_000, batch: 100, eventsKeptMs: 86_400_000 },
      findRunning,
    }),
    ...createCatalogueActivities({ ...dependencies, catalogue: DEFAULT_POLICY.catalogue, logger }),
    ...createWatchActivities({ ...dependencies, watch: { ...DEFAULT_POLICY.watch, ...watch } }),
    ...createBooksActivities({
      ...dependencies,
      logger,
      books: { ...DEFAULT_POLICY.books, ...books },
      runway: DEFAULT_POLICY.runway,
    }),
  };
}
