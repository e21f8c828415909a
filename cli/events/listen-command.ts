import type { Command } from 'commander';
import type { ListenOptions } from '#cli/events/listen.ts';
import { apiCall } from '#cli/resources/call.ts';
import { optionOf } from '#cli/resources/fields.ts';
import { describeWhenEntered, withExamples } from '#cli/resources/resource-command.ts';
import type { Environment } from '#config/environment.ts';

/** Adds `listen` to the command `events`. */
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
    const { listen } = await import('#cli/events/listen.ts');
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    process.once('SIGTERM', () => stop.abort());
    await listen(options, { environment, output: process.stdout, notes: process.stderr, signal: stop.signal });
  });
}
