import { type Command, Option } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import type { PricingCommands, SetOptions } from '#cli/money/pricing.ts';
import type { Environment } from '#config/environment.ts';

const REASON = ['--reason <text>', 'reason, shown in the versions of the rule'] as const;

/** Adds `set` and `end` to the command `pricing`. */
export function addPricingActions(pricing: Command, environment: Environment): void {
  const commands = async (): Promise<PricingCommands> =>
    new (await import('#cli/money/pricing.ts')).PricingCommands(environment);
  const target = (flags: string, description: string) => new Option(flags, description);
  const targets = [
    target('--default', 'for everything that no other rule matches'),
    target('--country <code>', 'for packages of this country, such as DE'),
    target('--package <id>', 'for this package'),
    target('--vpn-plan <id>', 'for this VPN plan'),
  ];
  for (const option of targets)
    option.conflicts(targets.filter((other) => other !== option).map((other) => other.attributeName()));
  const set = pricing
    .command('set')
    .description('make a rule, or change the terms of the rule with the same target; an option left out means none');
  for (const option of targets) set.addOption(option);
  set
    .requiredOption('--currency <code>', 'currency of its amounts; the rule applies to prices in it')
    .option('--margin <markup>', 'added to price_for_reseller: 35%, 0.50 or 35%+0.50')
    .option('--minimum-margin <markup>', 'smallest margin, in the same form')
    .option('--minimum-price <amount>', 'lowest price')
    .option('--step <amount>', 'prices are a multiple of it, plus --ending')
    .option('--ending <amount>', 'with --step 1, 0.99 makes prices end on .99')
    .option('--nearest', 'round to the nearest, not up; never below the minimum')
    .option(
      '--max-price-drift <percent>',
      'how much more the service may charge than the price before a purchase is held',
      '0',
    )
    .requiredOption(...REASON)
    .action(async (options: SetOptions) => (await commands()).set(options));
  pricing
    .command('end <id>')
    .description('end a rule; the next less specific rule applies instead')
    .requiredOption(...REASON)
    .action(async (id: string, options: ApiOptions & { reason: string }) => (await commands()).end(id, options));
}
