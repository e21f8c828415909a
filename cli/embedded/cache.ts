import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '#config/environment.ts';

/** Folder of downloaded and built binaries, shared by all checkouts of one user. */
export function cacheDirectory(environment: Environment): string {
  const base = environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache');
  return join(base, 'reseller-fulfilment');
}
