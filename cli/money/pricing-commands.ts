import { type Command, Option } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import type { PricingDesk, SetOptions } from '#cli/money/pricing.ts';
import { API, DATA } from '#cli/work/work-commands.ts';
import type { Environment } from '#config/environment.ts';

const WHY = ['--why <text>', 'why, for whoever reads the versions of the rule'] as const;

/** `pricing list`, `set`, `end` and `versions`. */
export function addPricingCommands(program: Command, environment: Environment): void {
  const desk = async (): Promise<PricingDesk> => new (await import('#cli/money/pricing.ts')).PricingDesk(environment);
  const pricing = program.command('pricing').description('the rules that suggest selling prices');
  const reachedBy = (command: Command): Command => command.option(...API).option(...DATA);
  reachedBy(pricing.command('list').description('the rules in force, the most specific first'))
    .option('--json', 'print them as the API answers them')
    .action(async (options: ApiOptions & { json?: boolean }) => (await desk()).list(options));
  const target = (flags: string, description: string) => new Option(flags, description);
  const targets = [
    target('--default', 'for all that no other rule is for'),
    target('--country <code>', 'for packages of this country, such as DE'),
    target('--package <id>', 'for this package'),
    target('--vpn-plan <id>', 'for this VPN plan'),
  ];
  for (const option of targets)
    option.conflicts(targets.filter((other) => other !== option).map((other) => other.attributeName()));
  const set = reachedBy(
    pricing
      .command('set')
      .description('make a rule, or give the one for the same other terms; what is left out is none'),
  );
  for (const option of targets) set.addOption(option);
  set
    .requiredOption('--currency <code>', 'of its amounts; it applies to what is priced in it')
    .option('--margin <markup>', 'what is added to price_for_reseller: 35%, 0.50 or 35%+0.50')
    .option('--minimum-margin <markup>', 'what is left at least, in the same form')
    .option('--minimum-price <amount>', 'the least price')
    .option('--step <amount>', 'prices are a multiple of it, plus --ending')
    .option('--ending <amount>', 'with --step 1, 0.99 makes prices end on .99')
    .option('--nearest', 'round to the nearest, not up; never below the minimum')
    .option('--max-price-drift <percent>', 'how much more the service may charge before a purchase is held', '0')
    .requiredOption(...WHY)
    .action(async (options: SetOptions) => (await desk()).set(options));
  reachedBy(pricing.command('end <id>').description('end a rule; what it was for goes by the next less specific one'))
    .requiredOption(...WHY)
    .action(async (id: string, options: ApiOptions & { why: string }) => (await desk()).end(id, options));
  reachedBy(
    pricing.command('versions <id>').description('each change of a rule, newest first, with who made it and why'),
  ).action(async (id: string, options: ApiOptions) => (await desk()).versions(id, options));
}
