import { Option, type Command } from 'commander';
import {
  days,
  keyPrefix,
  overlap,
  requestsPerMinute,
  run,
  withFormatOptions,
  type EnvironmentFor,
  type SetUpOption,
} from '#cli/terminal/options.ts';
import { DEFAULT_KEY_OVERLAP_MS } from '#domain/policy/api-policy.ts';

const PREFIX = 'public part of the key, as `keys list` shows it, with or without `rsk_test_` or `rsk_live_`';

export function addKeysCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/access/keys.ts');
  const keys = program
    .command('keys')
    .description('API keys of the database of DATABASE_URL; the prefix is the part between the underscores');
  const ofOneKey = (name: string) => keys.command(name).argument('<prefix>', PREFIX, keyPrefix);
  keys
    .command('create <name>')
    .description('make a key; it is printed once')
    .option('--scopes <list>', 'scopes, comma separated, or all')
    .option('--expires <days>', 'days until it expires', days)
    .option('--spend-limit <limit>', 'most that its work may spend in a day (UTC), such as "100.00 USD"')
    .option('--rate-limit <count>', 'requests a minute (default: API_RATE_LIMIT)', requestsPerMinute)
    .option('--own-work-only', 'the key sees and changes only what was made with it')
    .action(run(load, 'createKey', environmentFor));
  withFormatOptions(
    keys
      .command('list')
      .description('list all keys: validity, last use, limits and scopes; successors below the key that they replace'),
  ).action(run(load, 'listKeys', environmentFor));
  ofOneKey('rotate')
    .description('make a successor with the same scopes, limits and work; it is printed once')
    .addOption(
      new Option('--overlap <duration>', 'how long the former key still works, such as 2h; 0s when it has leaked')
        .argParser(overlap)
        .default(DEFAULT_KEY_OVERLAP_MS, `${DEFAULT_KEY_OVERLAP_MS / 3_600_000}h`),
    )
    .option('--expires <days>', 'days until the successor expires (default: as many as the former key was given)', days)
    .action(run(load, 'rotateKey', environmentFor));
  ofOneKey('limit')
    .argument('<limit>')
    .description('change what its work may spend in a day (UTC): "100.00 USD", or none')
    .action(async (prefix: string, limit: string, options: SetUpOption) =>
      (await load()).limitKey(prefix, limit, await environmentFor(options)),
    );
  ofOneKey('rate-limit')
    .description('change how many requests a minute it may make')
    .argument('<limit>', 'such as 600, or none for API_RATE_LIMIT', (text) =>
      text === 'none' ? null : requestsPerMinute(text),
    )
    .action(async (prefix: string, limit: number | null, options: SetUpOption) =>
      (await load()).limitKeyRate(prefix, limit, await environmentFor(options)),
    );
  ofOneKey('revoke')
    .description('end the validity of a key at once, and that of the share links that were made with it')
    .option('--no-share-links', 'its share links stay open')
    .action(run(load, 'revokeKey', environmentFor));
}

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
