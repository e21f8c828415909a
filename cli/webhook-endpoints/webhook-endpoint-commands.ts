import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import type {
  DeliveriesOptions,
  ReplayOptions,
  WebhookEndpointDesk,
} from '#cli/webhook-endpoints/webhook-endpoints.ts';
import { API, DATA } from '#cli/work/work-commands.ts';
import type { Environment } from '#config/environment.ts';

/** `webhook-endpoints list`, `deliveries` and `replay`. */
export function addWebhookEndpointCommands(program: Command, environment: Environment): void {
  const desk = async (): Promise<WebhookEndpointDesk> =>
    new (await import('#cli/webhook-endpoints/webhook-endpoints.ts')).WebhookEndpointDesk(environment);
  const endpoints = program
    .command('webhook-endpoints')
    .description('where internal systems are told of events, and what was delivered there');
  const reachedBy = (command: Command): Command => command.option(...API).option(...DATA);
  reachedBy(endpoints.command('list').description('list webhook endpoints, and how they do')).action(
    async (options: ApiOptions) => (await desk()).list(options),
  );
  reachedBy(endpoints.command('deliveries <id>').description('list the deliveries of one with each try, newest first'))
    .option('--status <status>', 'only pending, delivered or failed ones')
    .option('--limit <number>', 'how many at most, up to 100', '20')
    .action(async (id: string, options: DeliveriesOptions) => (await desk()).deliveries(id, options));
  reachedBy(
    endpoints
      .command('replay <id>')
      .description('send to one once more: an event, a delivery, or what happened since a time'),
  )
    .option('--event <id>', 'this event')
    .option('--delivery <id>', 'this delivery')
    .option('--since <time>', 'events from then on, such as 2030-01-31T00:00:00Z')
    .option('--until <time>', 'with --since: up to then')
    .option('--which <which>', 'with --since: all, failed or missed (default: all)')
    .action(async (id: string, options: ReplayOptions) => (await desk()).replay(id, options));
}
