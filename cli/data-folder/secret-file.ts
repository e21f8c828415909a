import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { codeOf } from '#cli/terminal/user-error.ts';

const OWNER_ONLY = 0o600;

/** Writes a file atomically; only its owner may read it. */
export function writeSecretFile(path: string, content: string): void {
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, content, { mode: OWNER_ONLY });
  renameSync(partial, path);
}

/** Reads a file, and first removes the permissions of group and others. @returns undefined when there is none. */
export function readSecretFile(path: string): string | undefined {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, OWNER_ONLY);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
