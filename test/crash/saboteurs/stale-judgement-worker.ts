/**
 * A worker with a defect: its relay judges a delivery by old data, and ignores data that another relay has stored
 * meanwhile. The crash proof must detect it.
 */
import { registerHooks } from 'node:module';

const NAME = '#domain/relay/inbox-decision.ts';
const OLD = new URL('old-inbox-decision.ts', import.meta.url).href;

registerHooks({
  // The old rule imports the other functions from the original file.
  resolve: (specifier, context, next) =>
    next(specifier === NAME && context.parentURL !== OLD ? OLD : specifier, context),
});
const { startWatchedWorker } = await import('#test/crash/processes/watched-worker.ts');
await startWatchedWorker();
