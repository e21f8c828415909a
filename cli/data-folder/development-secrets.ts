import { randomBytes } from 'node:crypto';
import { existsSync, chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError, codeOf } from '#cli/terminal/user-error.ts';

const schema = z.object({
  /** `id:base64`, as ENCRYPTION_KEYS takes it. */
  encryption_keys: z.string().min(1),
  webhook_secret: z.string().min(8),
  postgres_password: z.string().min(8),
  simulator_password: z.string().min(8),
});

export type DevelopmentSecrets = z.output<typeof schema>;

/** @throws UserError when the file is damaged, or missing beside encrypted data. */
export function loadSecrets(dataDirectory: string): DevelopmentSecrets {
  const path = join(dataDirectory, 'secrets.json');
  const text = readSecretFile(path);
  if (text !== undefined) {
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      throw new UserError(
        `${path} is damaged. The data beside it cannot be decrypted without it.`,
        'Restore an intact copy, or remove its folder to start with an empty one.',
      );
    }
  }
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

export function devApiKeyFile(dataDirectory: string): string {
  return join(dataDirectory, 'dev-api-key');
}

export function readDevApiKey(dataDirectory: string): string | undefined {
  return readSecretFile(devApiKeyFile(dataDirectory))?.trim();
}

const OWNER_ONLY = 0o600;

/** Atomic; only the owner may read the file. */
export function writeSecretFile(path: string, content: string): void {
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, content, { mode: OWNER_ONLY });
  renameSync(partial, path);
}

/** First removes the permissions of group and others. */
export function readSecretFile(path: string): string | undefined {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, OWNER_ONLY);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
