import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import type { GateCommands, PauseOptions } from '#cli/work/gate.ts';
import { API, DATA, WHY } from '#cli/work/work-commands.ts';
import type { Environment } from '#config/environment.ts';

/** `gate show`, `gate pause` and `gate release`. */
export function addGateCommands(program: Command, environment: Environment): void {
  const desk = async (): Promise<GateCommands> => new (await import('#cli/work/gate.ts')).GateCommands(environment);
  const gate = program
    .command('gate')
    .description('the purchase gate: what holds buying up as a whole, and your hand on it');
  const reachedBy = (command: Command): Command => command.option(...API).option(...DATA);
  reachedBy(gate.command('show').description('circuits of the service, pauses, what is held, reserved and spent'))
    .option('--json', 'print it as the API answers it')
    .action(async (options: ApiOptions & { json?: boolean }) => (await desk()).show(options));
  reachedBy(gate.command('pause').description('pause buying: all of it, of one kind, or after one failure class'))
    .option('--kind <kind>', 'order, topup or vpn_subscription')
    .option('--failure-class <class>', 'only what failed with this last, such as package_unavailable')
    .requiredOption(...WHY)
    .action(async (options: PauseOptions) => (await desk()).pause(options));
  reachedBy(gate.command('release <id>').description('end a pause; what it held goes on at a set rate, oldest first'))
    .requiredOption(...WHY)
    .action(async (id: string, options: ApiOptions & { why: string }) => (await desk()).release(id, options));
}
