import { Argument, InvalidArgumentError, type Command } from 'commander';
import type { DeploymentOptions } from '#cli/set-up/deployment.ts';
import { withFormatOptions, type EnvironmentFor, type SetUpOption } from '#cli/terminal/shared-options.ts';
import type { FormatOptions } from '#cli/terminal/tables/print-items.ts';

const NAME = ['--name <name>', 'the worker deployment (default: WORKER_DEPLOYMENT_NAME)'] as const;

/** `deployment show`, `set-current`, `set-ramping` and `delete`. */
export function addDeploymentCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/set-up/deployment.ts');
  const deployment = program
    .command('deployment')
    .description('versions of the workers in Temporal: which one gets new work');
  withFormatOptions(
    deployment
      .command('show')
      .description('list the versions with their state and their running workflows')
      .option(...NAME),
  ).action(async (options: DeploymentOptions & FormatOptions & SetUpOption) =>
    (await load()).showDeployment(options, await environmentFor(options)),
  );
  deployment
    .command('set-current')
    .argument('[build]', 'the version (default: WORKER_BUILD_ID)')
    .description('send new work to a version; the former one keeps the runs that are pinned to it')
    .option(...NAME)
    .option('--unversioned', 'send all work to workers without a version')
    .action(async (build: string | undefined, options: DeploymentOptions & { unversioned?: boolean } & SetUpOption) =>
      (await load()).setCurrent(build, options, await environmentFor(options)),
    );
  deployment
    .command('set-ramping')
    .argument('<build>', 'the version')
    .addArgument(new Argument('<percentage>', 'share of new work, 0 to 100; 0 ends it').argParser(percentage))
    .description('send a share of new work to a version')
    .option(...NAME)
    .action(async (build: string, share: number, options: DeploymentOptions & SetUpOption) =>
      (await load()).setRamping(build, share, options, await environmentFor(options)),
    );
  deployment
    .command('delete')
    .argument('<build>', 'the version')
    .description('forget a version that is drained and has no workers')
    .option(...NAME)
    .action(async (build: string, options: DeploymentOptions & SetUpOption) =>
      (await load()).deleteVersion(build, options, await environmentFor(options)),
    );
}

function percentage(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new InvalidArgumentError('Use a whole number from 0 to 100.');
}
