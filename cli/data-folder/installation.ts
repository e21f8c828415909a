/**
 * Which installation a command works on. The rule is the same for all commands:
 *
 * 1. the `npm start` that runs on the folder of --data;
 * 2. without --data: the installation that the environment variables name;
 * 3. without such variables: the `npm start` that runs on `.data`.
 */
import { isLocked } from '#cli/data-folder/data-folder-lock.ts';
import type { Environment } from '#config/environment.ts';

/** The folder of an `npm start` without --data. */
export const DEFAULT_FOLDER = '.data';

/** Each of these variables names an installation, or the service of one. */
const ADDRESSES = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'DATABASE_DIRECT_URL',
  'DATABASE_DIRECT_URL_FILE',
  'SERVICE_BASE_URL',
  'TEMPORAL_ADDRESS',
] as const;

/** The folder to use without --data (rule 3). @returns undefined when the environment variables apply. */
export function impliedFolder(environment: Environment): string | undefined {
  if (ADDRESSES.some((name) => (environment[name] ?? '') !== '')) return undefined;
  return isLocked(DEFAULT_FOLDER) ? DEFAULT_FOLDER : undefined;
}
