import { accessSync, chmodSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { codeOf, messageOf, UserError } from '#cli/terminal/user-error.ts';

// A new PostgreSQL cluster, its write-ahead log and the Temporal database take about 150 MB before the first order.
const DISK_NEEDED_BYTES = 300 * 1024 ** 2;

/**
 * Makes the data folder and makes sure that it can be used.
 *
 * @param freeBytes how much space is left for a folder; tests pass their own.
 * @throws UserError
 */
export function prepareDataFolder(folder: string, freeBytes: (folder: string) => number = freeBytesOf): void {
  try {
    const made = mkdirSync(folder, { recursive: true });
    // Others may pass through, since under root PostgreSQL runs as another account; what is in it is not for them.
    if (made !== undefined) chmodSync(folder, 0o711);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw noSpace(folder, 0);
    throw new UserError(
      `The data folder ${folder} cannot be used: ${messageOf(error)}.`,
      'Make it writable for you, or name another folder with --data.',
      { cause: error },
    );
  }
  const free = freeBytes(folder);
  if (free < DISK_NEEDED_BYTES) throw noSpace(folder, free);
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function noSpace(folder: string, free: number): UserError {
  return new UserError(
    `There is too little disk space: ${Math.floor(free / 1024 ** 2)} MB are free for ${folder}, and about 300 MB ` +
      'are needed.',
    'Free some space, or name a folder on another disk with --data.',
  );
}
