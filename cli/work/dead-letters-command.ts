import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { withFormatOptions } from '#cli/terminal/shared-options.ts';
import type { FormatOptions } from '#cli/terminal/tables/print-items.ts';
import type { DeadLetterCommands } from '#cli/work/dead-letters.ts';
import type { Environment } from '#config/environment.ts';

/** `dead-letters list`, `requeue` and `dismiss`. */
export function addDeadLettersCommand(program: Command, environment: Environment): void {
  const commands = async (): Promise<DeadLetterCommands> =>
    new (await import('#cli/work/dead-letters.ts')).DeadLetterCommands(environment);
  const letters = program
    .command('dead-letters')
    .description('reports of the service and requests to workflows that could not be processed');
  withFormatOptions(letters.command('list').description('list them, oldest first, with the error')).action(
    async (options: ApiOptions & FormatOptions) => (await commands()).list(options),
  );
  letters
    .command('requeue <id>')
    .description('process one again, after its cause was corrected')
    .requiredOption('--reason <reason>', 'reason, for the audit log')
    .action(async (id: string, options: ApiOptions & { reason: string }) => (await commands()).requeue(id, options));
  letters
    .command('dismiss <id>')
    .description('dismiss one: it will never be processed')
    .requiredOption('--reason <reason>', 'reason, for the audit log')
    .action(async (id: string, options: ApiOptions & { reason: string }) => (await commands()).dismiss(id, options));
}
