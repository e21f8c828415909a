/** A worker with a defect: an empty list of the last minutes proves that a failed purchase cost nothing. */
import { replaceModule } from '#test/crash/saboteurs/replaced-module.ts';

const EARLIER_MS = 10 * 60_000;

replaceModule('#domain/money/absence.ts', new URL('old-absence.ts', import.meta.url));
const { startWorkerWith } = await import('#test/crash/saboteurs/altered-service.ts');
await startWorkerWith((client) => ({
  listWalletTransactions: (filter, bounds) =>
    client.listWalletTransactions('isEnough' in filter ? { since: Date.now() - EARLIER_MS } : filter, bounds),
}));
