import type { Command } from 'commander';
import { duration, entries } from '#cli/terminal/arguments.ts';
import { withApiOptions } from '#cli/terminal/shared-options.ts';
import type { AuditOptions } from '#cli/work/audit.ts';
import type { Environment } from '#config/environment.ts';

/** `reseller audit`. */
export function addAuditCommand(program: Command, environment: Environment): void {
  const command = program
    .command('audit')
    .description(
      'the audit log, newest first: revealed activation data, operator actions, changes of keys, secrets and pauses',
    )
    .option('--actor <id>', 'only this actor: the id of an API key, or command/<account>')
    .option('--action <name>', 'only this action, such as esim.activation_revealed')
    .option('--subject <id>', 'only entries about this subject')
    .option('--since <duration>', 'only entries of this time span until now, such as 24h', duration)
    .option('--limit <count>', 'maximum number', entries, 50)
    .option('--json', 'print them as JSON');
  withApiOptions(command).action(async (options: AuditOptions) =>
    (await import('#cli/work/audit.ts')).showAuditLog(options, environment),
  );
}
