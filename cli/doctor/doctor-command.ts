import type { Command } from 'commander';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/options.ts';

/** `reseller doctor`. */
export function addDoctorCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('doctor')
    .description('check a set-up; spends nothing; exit code 0: no failure, 1: at least one, 78: unusable configuration')
    .option('--json', 'print the findings as JSON')
    .action(async (options: { json?: boolean } & SetUpOption) => {
      const { runDoctor } = await import('#cli/doctor/doctor.ts');
      process.exitCode = await runDoctor(options, await environmentFor(options));
    });
}
