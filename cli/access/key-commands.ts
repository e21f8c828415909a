import { Option, type Command } from 'commander';
import type { NewKeyOptions } from '#cli/access/keys.ts';
import { SET_UP, type EnvironmentFor, type SetUpOption } from '#cli/set-up/set-up-option.ts';
import { days, keyPrefix, overlap, requestsPerMinute } from '#cli/terminal/arguments.ts';
import { DEFAULT_KEY_OVERLAP_MS } from '#domain/policy/api-policy.ts';

/** How a key is named. */
const PREFIX = 'public part of the key, as `keys list` shows it; `rsk_` may stand before it';

/** `keys create`, `list`, `rotate`, `limit`, `rate-limit` and `revoke`. */
export function addKeyCommands(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/access/keys.ts');
  const keys = program
    .command('keys')
    .description('API keys of the database of DATABASE_URL; the prefix is the part between the underscores');
  keys
    .command('create <name>')
    .description('make a key; it is shown once')
    .option('--scopes <list>', 'what it may do: comma separated, or all')
    .option('--expires <days>', 'days until it expires', days)
    .option('--spend-limit <limit>', 'the most that is spent in a day (UTC) for its work, such as "100.00 USD"')
    .option('--rate-limit <count>', 'requests a minute (default: as the configuration says)', requestsPerMinute)
    .option('--own-work-only', 'it sees and acts upon nothing but what is made with it')
    .option(...SET_UP)
    .action(async (name: string, options: NewKeyOptions & SetUpOption) =>
      (await load()).createKey(name, options, await environmentFor(options)),
    );
  keys
    .command('list')
    .description('list all keys: validity, last use, limits and scopes; successors below the key that they follow')
    .option(...SET_UP)
    .action(async (options: SetUpOption) => (await load()).listKeys(await environmentFor(options)));
  keys
    .command('rotate')
    .argument('<prefix>', PREFIX, keyPrefix)
    .description('make its successor, with the same scopes and limits, which goes on with its work; it is shown once')
    .addOption(
      new Option('--overlap <duration>', 'how long the former one still works, such as 2h; 0s when it has leaked')
        .argParser(overlap)
        .default(DEFAULT_KEY_OVERLAP_MS, `${DEFAULT_KEY_OVERLAP_MS / 3_600_000}h`),
    )
    .option(
      '--expires <days>',
      'days until the successor expires (default: as long as the former was made to live)',
      days,
    )
    .option(...SET_UP)
    .action(async (prefix: string, options: { overlap: number; expires?: number } & SetUpOption) =>
      (await load()).rotateKey(prefix, options, await environmentFor(options)),
    );
  keys
    .command('limit')
    .argument('<prefix>', PREFIX, keyPrefix)
    .argument('<limit>')
    .description('change what may be spent in a day (UTC) for its work: "100.00 USD", or none')
    .option(...SET_UP)
    .action(async (prefix: string, limit: string, options: SetUpOption) =>
      (await load()).limitKey(prefix, limit, await environmentFor(options)),
    );
  keys
    .command('rate-limit')
    .argument('<prefix>', PREFIX, keyPrefix)
    .description('change how many requests a minute are taken from it')
    .argument('<limit>', 'such as 600, or none for what the configuration says', (text) =>
      text === 'none' ? null : requestsPerMinute(text),
    )
    .option(...SET_UP)
    .action(async (prefix: string, limit: number | null, options: SetUpOption) =>
      (await load()).limitKeyRate(prefix, limit, await environmentFor(options)),
    );
  keys
    .command('revoke')
    .argument('<prefix>', PREFIX, keyPrefix)
    .description('end a key’s life at once')
    .option(...SET_UP)
    .action(async (prefix: string, options: SetUpOption) =>
      (await load()).revokeKey(prefix, await environmentFor(options)),
    );
}
