import type { Command } from 'commander';
import type { ReconcileOptions } from '#cli/money/reconcile.ts';
import { duration } from '#cli/terminal/arguments.ts';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/shared-options.ts';

/** `reseller reconcile`. */
export function addReconcileCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('reconcile')
    .description(
      'compare our books with the wallet at the service now; exit code 0: no findings, 1: findings, ' +
        '2: not everything was compared',
    )
    .option('--json', 'print the report as JSON')
    .option('--wait <duration>', 'how long to wait for the worker that compares (default 5m)', duration)
    .action(async (options: ReconcileOptions & SetUpOption) => {
      const { runReconcile } = await import('#cli/money/reconcile.ts');
      process.exitCode = await runReconcile(options, await environmentFor(options));
    });
}
