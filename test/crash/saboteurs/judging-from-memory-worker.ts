/**
 * A worker with one thing wrong: its relay judges a delivery without a look at what another relay stored with the row
 * since it was taken. The crash proof must notice.
 */
import { registerHooks } from 'node:module';

const NAME = '#domain/relay/inbox-decision.ts';
const OLD = new URL('old-inbox-decision.ts', import.meta.url).href;

registerHooks({
  // The old rule itself finds the rest of the file in its place.
  resolve: (specifier, context, next) =>
    next(specifier === NAME && context.parentURL !== OLD ? OLD : specifier, context),
});
const { startWatchedWorker } = await import('#test/crash/processes/watched-worker.ts');
await startWatchedWorker();
