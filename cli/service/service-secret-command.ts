import type { Command } from 'commander';
import { overlap, type EnvironmentFor, type SetUpOption } from '#cli/terminal/options.ts';

/** `reseller service-secret create` and `rotate`. */
export function addServiceSecretCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/service/service-secret.ts');
  const secret = program
    .command('service-secret')
    .description('the secret that signs the service’s webhooks: the service creates it, we store it encrypted');
  secret
    .command('create')
    .description('make the service create its first secret')
    .action(async (options: SetUpOption) =>
      (await load()).changeServiceSecret('create', options, await environmentFor(options)),
    );
  secret
    .command('rotate')
    .description('make the service replace the secret; the former one remains valid for a while')
    .option(
      '--overlap <duration>',
      'how long the former one is accepted, such as 2h; 0s when it has leaked (default ' +
        'service_webhooks.secret_overlap)',
      overlap,
    )
    .action(async (options: { overlap?: number } & SetUpOption) =>
      (await load()).changeServiceSecret('rotate', options, await environmentFor(options)),
    );
}
