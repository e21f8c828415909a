import { type Command, Option } from 'commander';
import { attemptCount, deadline, waitSeconds } from '#cli/terminal/arguments.ts';
import { REASON } from '#cli/terminal/shared-options.ts';
import type { WorkResource } from '#cli/work/kinds.ts';
import type { ActionOptions, ResolveOptions, RetryPolicyOptions, WorkCommands } from '#cli/work/work.ts';
import type { Environment } from '#config/environment.ts';

/** Adds `retry`, `release`, `abandon`, `limit`, `retry-policy` and `resolve` to the command of one kind of work. */
export function addWorkActions(work: Command, kind: WorkResource, environment: Environment): void {
  const { noun } = kind;
  const commands = async (): Promise<WorkCommands> =>
    new (await import('#cli/work/work.ts')).WorkCommands(kind, environment);
  for (const [action, description] of [
    ['retry', `try ${noun}s again now that are held or need attention`],
    ['release', `release held ${noun}s through the purchase gate now, past pauses and open circuits`],
    ['abandon', `abandon ${noun}s that provably bought nothing`],
  ] as const) {
    if (action === 'release' && !kind.isPurchase) continue;
    withBulkOptions(work.command(`${action} [ids...]`).description(`${description}; exit code 1 when any was refused`))
      .requiredOption(...REASON)
      .action(async (ids: string[], options: ActionOptions) => {
        process.exitCode = await (await commands()).perform(action, ids, options);
      });
  }
  if (kind.isPurchase) {
    withBulkOptions(
      work
        .command('limit <id> <max-price>')
        .description(
          'change the maximum that the service may charge: "12.50 USD", or none; "all" instead of the id: all ' +
            'that match the filters',
        ),
    )
      .requiredOption(...REASON)
      .action(async (id: string, maxPrice: string, options: ActionOptions) => {
        process.exitCode = await (await commands()).limit(id, maxPrice, options);
      });
  }
  work
    .command('retry-policy <id>')
    .description('change the number of attempts, the waits and the deadline; "configured" undoes a change')
    .option('--attempts <count>', 'attempts in total, including those already made', attemptCount)
    .option('--first-wait <duration>', 'first wait, such as 30s; doubled each time', waitSeconds)
    .option('--longest-wait <duration>', 'longest wait, such as 2h', waitSeconds)
    .option('--deadline <time>', 'no attempt after this time, such as 2030-01-31T12:00:00Z', deadline)
    .requiredOption(...REASON)
    .action(async (id: string, options: RetryPolicyOptions) => {
      process.exitCode = await (await commands()).retryPolicy(id, options);
    });
  const serviceIds = Object.entries(kind.serviceIds).map(([field, what]) => ({
    field,
    option: new Option(`--${field.replaceAll('_', '-')} <id>`, `with bought: ${what}`),
  }));
  const resolve = withBulkOptions(
    work
      .command('resolve <id>')
      .description('resolve an open case with the fact; "all" instead of the id: all that match the filters'),
  )
    .requiredOption('--case <reason>', `reason of the case, as \`${kind.command} list\` shows it`)
    .requiredOption(
      '--verdict <verdict>',
      kind.isPurchase
        ? 'bought, not_bought or dismissed'
        : 'bought (it is cancelled), not_bought (it is not), refunded or dismissed',
    )
    .requiredOption(...REASON)
    .option('--next <what>', 'with not_bought: continue (buy again) or abandon');
  for (const { option } of serviceIds) resolve.addOption(option);
  resolve.action(
    async (id: string, options: Omit<ResolveOptions, 'serviceIds'> & Record<string, string | undefined>) => {
      const named = serviceIds.map(({ field, option }) => [field, options[option.attributeName()]] as const);
      process.exitCode = await (await commands()).resolve(id, { ...options, serviceIds: Object.fromEntries(named) });
    },
  );
}

/** Adds the filters, and a dry run that shows what the action would change. */
function withBulkOptions(command: Command): Command {
  return command
    .option('--dry-run', 'only print what the action would change')
    .option('--status <status>', 'those with this status, such as held')
    .option('--failure-class <class>', 'those with this failure class, such as insufficient_balance')
    .option('--attention <reason>', 'those that need attention for this reason, such as outcome_unknown');
}
