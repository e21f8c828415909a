import { DefaultLogger, Runtime } from '@temporalio/worker';

let installed = false;

/** Limits the log of Temporal workers to warnings. Call before the first worker of a process. */
export function quietRuntime(): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('WARN'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
}
