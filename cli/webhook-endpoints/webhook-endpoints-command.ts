import type { Command } from 'commander';
import type { ReplayOptions, WebhookEndpointCommands } from '#cli/webhook-endpoints/webhook-endpoints.ts';
import type { Environment } from '#config/environment.ts';

/** Adds `replay` to the command `webhook-endpoints`. */
export function addReplayCommand(endpoints: Command, environment: Environment): void {
  const commands = async (): Promise<WebhookEndpointCommands> =>
    new (await import('#cli/webhook-endpoints/webhook-endpoints.ts')).WebhookEndpointCommands(environment);
  endpoints
    .command('replay <id>')
    .description('send to an endpoint again: an event, a delivery, or all events since a time')
    .option('--event <id>', 'this event')
    .option('--delivery <id>', 'this delivery')
    .option('--since <time>', 'events since this time, such as 2030-01-31T00:00:00Z')
    .option('--until <time>', 'with --since: until this time')
    .option('--which <which>', 'with --since: all, failed or missed (default: all)')
    .action(async (id: string, options: ReplayOptions) => (await commands()).replay(id, options));
}
