import { DefaultLogger, Runtime } from '@temporalio/worker';

let installed = false;

/** Called before a process starts its first Temporal worker: workers log no more than warnings then. */
export function quietRuntime(): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('WARN'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
}
