import { type Command, Option } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { attemptCount, deadline, waitSeconds } from '#cli/terminal/arguments.ts';
import type { WorkCommand } from '#cli/work/work-kinds.ts';
import type { ActOptions, ResolveOptions, RetryPolicyOptions, WorkChoice, WorkDesk } from '#cli/work/work.ts';
import type { Environment } from '#config/environment.ts';

export const API = [
  '--api <url>',
  'base address of the API (default: of what `npm start` runs on the data folder; with RESELLER_API_KEY and no --data, else http://127.0.0.1:3000)',
] as const;
export const DATA = [
  '--data <folder>',
  'data folder of `npm start`, for its address and API key; RESELLER_API_KEY goes first',
  '.data',
] as const;
export const WHY = ['--why <text>', 'why, for whoever reads the timeline; no personal data'] as const;

/** `list`, `retry`, `release`, `abandon`, `limit`, `retry-policy` and `resolve` of one kind of work. */
export function addWorkCommands(program: Command, kind: WorkCommand, environment: Environment): void {
  const { noun } = kind;
  const desk = async (): Promise<WorkDesk> => new (await import('#cli/work/work.ts')).WorkDesk(kind, environment);
  const work = program
    .command(kind.command)
    .description(`look at ${noun}s that wait or went wrong, and act on them; each act is written down`);
  const reachedBy = (command: Command): Command => command.option(...API).option(...DATA);

  chosenBy(reachedBy(work.command('list').description(`list ${noun}s, newest first`))).action(
    async (options: WorkChoice & ApiOptions) => (await desk()).list(options),
  );
  for (const [action, description] of [
    ['retry', 'try again now what is held or parked'],
    ['release', 'let through the purchase gate now what is held, past pauses and open circuits'],
    ['abandon', 'give up what provably bought nothing'],
  ] as const) {
    if (action === 'release' && !kind.isBought) continue;
    onMany(
      reachedBy(work.command(`${action} [ids...]`).description(`${description}; exit code 1 when any was refused`)),
    )
      .requiredOption(...WHY)
      .action(async (ids: string[], options: ActOptions) => {
        process.exitCode = await (await desk()).act(action, ids, options);
      });
  }
  if (kind.isBought) {
    onMany(
      reachedBy(
        work
          .command('limit <id> <max-price>')
          .description(
            'change the most that the service may charge: "12.50 USD", or none; of all that are chosen with "all"',
          ),
      ),
    )
      .requiredOption(...WHY)
      .action(async (id: string, maxPrice: string, options: ActOptions) => {
        process.exitCode = await (await desk()).limit(id, maxPrice, options);
      });
  }
  reachedBy(
    work
      .command('retry-policy <id>')
      .description('change how often, how fast and until when it is tried again; configured takes a change back'),
  )
    .option('--attempts <count>', 'attempts in all, those that were made included', attemptCount)
    .option('--first-wait <duration>', 'first wait, such as 30s; doubled each time', waitSeconds)
    .option('--longest-wait <duration>', 'longest wait, such as 2h', waitSeconds)
    .option('--deadline <time>', 'when it is given up, such as 2030-01-31T12:00:00Z', deadline)
    .requiredOption(...WHY)
    .action(async (id: string, options: RetryPolicyOptions) => {
      process.exitCode = await (await desk()).retryPolicy(id, options);
    });
  const serviceIds = Object.entries(kind.serviceIds).map(([field, what]) => ({
    field,
    option: new Option(`--${field.replaceAll('_', '-')} <id>`, `with bought: ${what}`),
  }));
  const resolve = onMany(
    reachedBy(
      work
        .command('resolve <id>')
        .description(
          'judge an open case: say what is true where nothing could prove it; of all that are chosen with "all"',
        ),
    ),
  )
    .requiredOption('--case <reason>', `reason of the case, as \`${kind.command} list\` shows it`)
    .requiredOption(
      '--verdict <verdict>',
      kind.isBought
        ? 'bought, not_bought or dismissed'
        : 'bought (it is cancelled), not_bought (it is not), refunded or dismissed',
    )
    .requiredOption(...WHY)
    .option('--next <what>', 'with not_bought: continue (buy anew) or abandon');
  for (const { option } of serviceIds) resolve.addOption(option);
  resolve.action(
    async (id: string, options: Omit<ResolveOptions, 'serviceIds'> & Record<string, string | undefined>) => {
      const named = serviceIds.map(({ field, option }) => [field, options[option.attributeName()]] as const);
      process.exitCode = await (await desk()).resolve(id, { ...options, serviceIds: Object.fromEntries(named) });
    },
  );
}

/** What acts on all that is chosen can be looked at before. */
function onMany(command: Command): Command {
  return chosenBy(command).option('--dry-run', 'only say what would become of each');
}

function chosenBy(command: Command): Command {
  return command
    .option('--status <status>', 'those with this status, such as held')
    .option('--failure-class <class>', 'those with this failure class, such as insufficient_balance')
    .option('--attention <reason>', 'those that wait for a person for this reason, such as outcome_unknown');
}
