import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readSecretFile, writeSecretFile } from '#cli/data-folder/secret-file.ts';
import { UserError } from '#cli/terminal/user-error.ts';

const schema = z.object({
  /** `id:base64`, as ENCRYPTION_KEYS takes it. */
  encryption_keys: z.string().min(1),
  webhook_secret: z.string().min(8),
  postgres_password: z.string().min(8),
  simulator_password: z.string().min(8),
});

/** Secrets of a development set-up, generated once and kept beside its data. */
export type DevelopmentSecrets = z.output<typeof schema>;

/**
 * Reads `secrets.json` of a data folder, or creates it in a new folder.
 *
 * @throws UserError when it is damaged, or missing although data are encrypted with its keys.
 */
export function loadSecrets(dataDirectory: string): DevelopmentSecrets {
  const path = join(dataDirectory, 'secrets.json');
  const text = readSecretFile(path);
  if (text !== undefined) return parse(text, path);
  if (existsSync(join(dataDirectory, 'postgres', 'PG_VERSION'))) {
    throw new UserError(
      `${path} is missing. The data beside it cannot be decrypted without it.`,
      `Restore it, or remove ${dataDirectory} to start with an empty folder.`,
    );
  }
  const made: DevelopmentSecrets = {
    encryption_keys: `dev-1:${randomBytes(32).toString('base64')}`,
    webhook_secret: `whsec_${randomBytes(32).toString('hex')}`,
    postgres_password: randomBytes(24).toString('hex'),
    simulator_password: randomBytes(24).toString('hex'),
  };
  writeSecretFile(path, `${JSON.stringify(made, undefined, 2)}\n`);
  return made;
}

function parse(text: string, path: string): DevelopmentSecrets {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new UserError(
      `${path} is damaged. The data beside it cannot be decrypted without it.`,
      'Restore an intact copy, or remove its folder to start with an empty one.',
    );
  }
}
