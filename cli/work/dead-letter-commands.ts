import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import type { DeadLetterActionOptions, DeadLetterDesk } from '#cli/work/dead-letters.ts';
import { API, DATA } from '#cli/work/work-commands.ts';
import type { Environment } from '#config/environment.ts';

/** `dead-letters list`, `requeue` and `dismiss`. */
export function addDeadLetterCommands(program: Command, environment: Environment): void {
  const desk = async (): Promise<DeadLetterDesk> =>
    new (await import('#cli/work/dead-letters.ts')).DeadLetterDesk(environment);
  const letters = program
    .command('dead-letters')
    .description('reports of the service and requests to workflows that could not be processed');
  const reachedBy = (command: Command): Command => command.option(...API).option(...DATA);
  reachedBy(letters.command('list').description('list them, oldest first, with what is wrong')).action(
    async (options: ApiOptions) => (await desk()).list(options),
  );
  reachedBy(letters.command('requeue <id>').description('have one processed again, once its cause is corrected'))
    .requiredOption('--why <reason>', 'why, for the audit log')
    .action(async (id: string, options: DeadLetterActionOptions) => (await desk()).requeue(id, options));
  reachedBy(letters.command('dismiss <id>').description('put one aside for good: it has no effect any more'))
    .requiredOption('--why <reason>', 'why, for the audit log')
    .action(async (id: string, options: DeadLetterActionOptions) => (await desk()).dismiss(id, options));
}
