import type { Command } from 'commander';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/shared-options.ts';

/** `encryption-keys list` and `retire`. */
export function addEncryptionKeysCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/access/encryption-keys.ts');
  const keys = program
    .command('encryption-keys')
    .description('encryption keys that the database of DATABASE_URL was used with, by id');
  keys
    .command('list')
    .description('list them, oldest first')
    .action(async (options: SetUpOption) => (await load()).listEncryptionKeys(await environmentFor(options)));
  keys
    .command('retire')
    .argument('<id>', 'id of the key')
    .description('retire a key: processes then start without it; refused while stored values are encrypted with it')
    .action(async (keyId: string, options: SetUpOption) =>
      (await load()).retireEncryptionKey(keyId, await environmentFor(options)),
    );
}
