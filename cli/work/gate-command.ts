import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { REASON } from '#cli/terminal/shared-options.ts';
import type { GateCommands, PauseOptions } from '#cli/work/gate.ts';
import type { Environment } from '#config/environment.ts';

/** `gate show`, `gate pause` and `gate release`. */
export function addGateCommand(program: Command, environment: Environment): void {
  const commands = async (): Promise<GateCommands> => new (await import('#cli/work/gate.ts')).GateCommands(environment);
  const gate = program.command('gate').description('the purchase gate: circuits, stops, held purchases and pauses');
  gate
    .command('show')
    .description('circuits of the service, pauses, stops, held work, reserved and spent money')
    .option('--json', 'print it as the API answers it')
    .action(async (options: ApiOptions & { json?: boolean }) => (await commands()).show(options));
  gate
    .command('pause')
    .description('pause buying: all, one kind, or work with one failure class')
    .option('--kind <kind>', 'order, topup or vpn_subscription')
    .option('--failure-class <class>', 'only work whose last failure has this class, such as package_unavailable')
    .requiredOption(...REASON)
    .action(async (options: PauseOptions) => (await commands()).pause(options));
  gate
    .command('release <id>')
    .description('end a pause; or, with drift:<kind>, let one purchase of a stopped kind go')
    .requiredOption(...REASON)
    .action(async (id: string, options: ApiOptions & { reason: string }) => (await commands()).release(id, options));
}
