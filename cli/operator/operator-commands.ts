import { type Command, Option } from 'commander';
import type { ListenOptions } from '#cli/operator/events.ts';
import type { ResolveOptions, WorkDesk } from '#cli/operator/work.ts';
import { apiCall, optionOf } from '#cli/resources/call.ts';
import { describeWhenEntered, withExamples } from '#cli/resources/resource-command.ts';
import {
  attemptCount,
  deadline,
  waitSeconds,
  duration,
  REASON,
  withFormatOptions,
  run,
  type EnvironmentFor,
} from '#cli/terminal/options.ts';
import type { Environment } from '#config/environment.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** The verdict `bought` takes these ids. */
const SERVICE_IDS: Readonly<Record<WorkKind, Readonly<Record<string, string>>>> = {
  order: { service_order_id: 'the order at the service', service_esim_id: 'the eSIM at the service' },
  topup: { service_topup_id: 'the top-up at the service' },
  vpn_subscription: { service_subscription_id: 'the subscription at the service' },
  cancellation: { service_refund_id: 'its refund at the service' },
};

export function addWorkActions(work: Command, kind: WorkKind, environment: Environment): void {
  const { noun, command, isPurchase } = KINDS[kind];
  const load = () => import('#cli/operator/work.ts');
  const desk: WorkDesk = { kind, environment };
  for (const [action, description] of [
    ['retry', `try ${noun}s again now that are held or need attention`],
    ['release', `release held ${noun}s through the purchase gate now, past pauses and open circuits`],
    ['abandon', `abandon ${noun}s that provably bought nothing`],
  ] as const) {
    if (action === 'release' && !isPurchase) continue;
    addBulkCommand(work, `${action} [ids...]`, `${description}; exit code 1 when any was refused`)
      .requiredOption(...REASON)
      .action(run(load, 'actOnSeveral', environment, desk, { action }));
  }
  if (isPurchase) {
    addBulkCommand(
      work,
      'limit <id> <max-price>',
      'change the maximum that the service may charge: "12.50 USD", or none; "all" instead of the id: all that match ' +
        'the filters',
    )
      .requiredOption(...REASON)
      .action(run(load, 'limitWork', environment, desk));
  }
  work
    .command('retry-policy <id>')
    .description('change the number of attempts, the waits and the deadline; "configured" undoes a change')
    .option('--attempts <count>', 'attempts in total, including those already made', attemptCount)
    .option('--first-wait <duration>', 'first wait, such as 30s; doubled each time', waitSeconds)
    .option('--longest-wait <duration>', 'longest wait, such as 2h', waitSeconds)
    .option('--deadline <time>', 'no attempt after this time, such as 2030-01-31T12:00:00Z', deadline)
    .requiredOption(...REASON)
    .action(run(load, 'changeRetryPolicy', environment, desk));
  const serviceIds = Object.entries(SERVICE_IDS[kind]).map(([field, what]) => ({
    field,
    option: new Option(`--${field.replaceAll('_', '-')} <id>`, `with bought: ${what}`),
  }));
  const resolve = addBulkCommand(
    work,
    'resolve <id>',
    'resolve an open case with the fact; "all" instead of the id: all that match the filters',
  )
    .requiredOption('--case <reason>', `reason of the case, as \`${command} list\` shows it`)
    .requiredOption(
      '--verdict <verdict>',
      isPurchase
        ? 'bought, not_bought or dismissed'
        : 'bought (it is cancelled), not_bought (it is not), refunded or dismissed',
    )
    .requiredOption(...REASON)
    .option('--next <what>', 'with not_bought: continue (buy again) or abandon');
  for (const { option } of serviceIds) resolve.addOption(option);
  resolve.action(
    async (id: string, options: Omit<ResolveOptions, 'serviceIds'> & Record<string, string | undefined>) => {
      const named = serviceIds.map(({ field, option }) => [field, options[option.attributeName()]] as const);
      const judged = { ...options, serviceIds: Object.fromEntries(named) };
      process.exitCode = await (await load()).resolveCase(desk, id, judged);
    },
  );
}

function addBulkCommand(work: Command, typed: string, description: string): Command {
  return work
    .command(typed)
    .description(description)
    .option('--dry-run', 'only print what the action would change')
    .option('--status <status>', 'those with this status, such as held')
    .option('--failure-class <class>', 'those with this failure class, such as insufficient_balance')
    .option('--attention <reason>', 'those that need attention for this reason, such as outcome_unknown');
}

export function addGateCommand(program: Command, environment: Environment): void {
  const load = () => import('#cli/operator/gate.ts');
  const gate = program.command('gate').description('the purchase gate: circuits, stops, held purchases and pauses');
  gate
    .command('show')
    .description('circuits of the service, pauses, stops, held work, reserved and spent money')
    .option('--json', 'print it as the API answers it')
    .action(run(load, 'showGate', environment));
  gate
    .command('pause')
    .description('pause buying: all, one kind, or work with one failure class')
    .option('--kind <kind>', 'order, topup or vpn_subscription')
    .option('--failure-class <class>', 'only work whose last failure has this class, such as package_unavailable')
    .requiredOption(...REASON)
    .action(run(load, 'pausePurchases', environment));
  gate
    .command('release <id>')
    .description('end a pause; or, with drift:<kind>, let one purchase of a stopped kind go')
    .requiredOption(...REASON)
    .action(run(load, 'releasePurchases', environment));
}

export function addDeadLettersCommand(program: Command, environment: Environment): void {
  const load = () => import('#cli/operator/dead-letters.ts');
  const letters = program
    .command('dead-letters')
    .description('reports of the service and requests to workflows that could not be processed');
  withFormatOptions(letters.command('list').description('list them, oldest first, with the error')).action(
    run(load, 'listDeadLetters', environment),
  );
  for (const [action, description] of [
    ['requeue', 'process one again, after its cause was corrected'],
    ['dismiss', 'dismiss one: it will never be processed'],
  ] as const) {
    letters
      .command(`${action} <id>`)
      .description(description)
      .requiredOption('--reason <reason>', 'reason, for the audit log')
      .action(run(load, 'endDeadLetter', environment, action));
  }
}

const RULE_REASON = ['--reason <text>', 'reason, shown in the versions of the rule'] as const;

export function addPricingActions(pricing: Command, environment: Environment): void {
  const load = () => import('#cli/operator/pricing.ts');
  const targets = [
    new Option('--default', 'for everything that no other rule matches'),
    new Option('--country <code>', 'for packages of this country, such as DE'),
    new Option('--package <id>', 'for this package'),
    new Option('--vpn-plan <id>', 'for this VPN plan'),
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
    .requiredOption(...RULE_REASON)
    .action(run(load, 'setRule', environment));
  pricing
    .command('end <id>')
    .description('end a rule; the next less specific rule applies instead')
    .requiredOption(...RULE_REASON)
    .action(run(load, 'endRule', environment));
}

export function addReconcileCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('reconcile')
    .description(
      'compare our books with the wallet at the service now; exit code 0: no findings, 1: findings, ' +
        '2: not everything was compared',
    )
    .option('--json', 'print the report as JSON')
    .option('--wait <duration>', 'how long to wait for the worker that compares (default 5m)', duration)
    .action(run(() => import('#cli/operator/reconcile.ts'), 'runReconcile', environmentFor));
}

export function addReplayCommand(endpoints: Command, environment: Environment): void {
  endpoints
    .command('replay <id>')
    .description('send to an endpoint again: an event, a delivery, or all events since a time')
    .option('--event <id>', 'this event')
    .option('--delivery <id>', 'this delivery')
    .option('--since <time>', 'events since this time, such as 2030-01-31T00:00:00Z')
    .option('--until <time>', 'with --since: until this time')
    .option('--which <which>', 'with --since: all, failed or missed (default: all)')
    .action(run(() => import('#cli/operator/events.ts'), 'replayEvents', environment));
}

export function addListenCommand(events: Command, environment: Environment): void {
  const command = events
    .command('listen')
    .description(
      'print events as they happen, until Ctrl-C; with --forward-to also send each to a program on this machine, ' +
        'signed like the webhook of an endpoint',
    );
  describeWhenEntered(command, async () => {
    for (const field of (await apiCall('streamEvents')).query) command.addOption(optionOf(field, true));
    command
      .option(
        '--forward-to <url>',
        'send each event there; the secret of RESELLER_WEBHOOK_SECRET signs, or else a new one',
      )
      .option('--json', 'print each event as one line of JSON');
  });
  withExamples(command, 'reseller events listen', [
    ['--type "order.*"', 'events of orders'],
    ['--forward-to http://127.0.0.1:5000/hook', 'sends each event to your program, signed'],
  ]);
  command.action(async (options: ListenOptions) => {
    const { listen } = await import('#cli/operator/events.ts');
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    process.once('SIGTERM', () => stop.abort());
    await listen(options, { environment, output: process.stdout, notes: process.stderr, signal: stop.signal });
  });
}
