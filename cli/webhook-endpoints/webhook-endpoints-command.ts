import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { withApiOptions } from '#cli/terminal/shared-options.ts';
import type {
  DeliveriesOptions,
  ReplayOptions,
  WebhookEndpointCommands,
} from '#cli/webhook-endpoints/webhook-endpoints.ts';
import type { Environment } from '#config/environment.ts';

/** `webhook-endpoints list`, `deliveries` and `replay`. */
export function addWebhookEndpointsCommand(program: Command, environment: Environment): void {
  const commands = async (): Promise<WebhookEndpointCommands> =>
    new (await import('#cli/webhook-endpoints/webhook-endpoints.ts')).WebhookEndpointCommands(environment);
  const endpoints = program
    .command('webhook-endpoints')
    .description('addresses of internal systems that events are sent to, and their deliveries');
  withApiOptions(endpoints.command('list').description('list webhook endpoints and their state')).action(
    async (options: ApiOptions) => (await commands()).list(options),
  );
  withApiOptions(
    endpoints.command('deliveries <id>').description('list the deliveries of an endpoint with each try, newest first'),
  )
    .option('--status <status>', 'only pending, delivered or failed ones')
    .option('--limit <number>', 'maximum number, up to 100', '20')
    .action(async (id: string, options: DeliveriesOptions) => (await commands()).deliveries(id, options));
  withApiOptions(
    endpoints
      .command('replay <id>')
      .description('send to an endpoint again: an event, a delivery, or all events since a time'),
  )
    .option('--event <id>', 'this event')
    .option('--delivery <id>', 'this delivery')
    .option('--since <time>', 'events since this time, such as 2030-01-31T00:00:00Z')
    .option('--until <time>', 'with --since: until this time')
    .option('--which <which>', 'with --since: all, failed or missed (default: all)')
    .action(async (id: string, options: ReplayOptions) => (await commands()).replay(id, options));
}
