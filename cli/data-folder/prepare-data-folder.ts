import { accessSync, chmodSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { codeOf, messageOf, UserError } from '#cli/terminal/user-error.ts';

// A new PostgreSQL cluster, its write-ahead log and the Temporal database take about 150 MB before the first order.
const DISK_NEEDED_BYTES = 300 * 1024 ** 2;

/**
 * Creates the data folder and checks that it can be used.
 *
 * @param freeBytes reads the free space of a folder, in bytes; tests pass their own.
 * @throws UserError when the folder cannot be written, or the disk has too little space.
 */
export function prepareDataFolder(folder: string, freeBytes: (folder: string) => number = freeBytesOf): void {
  try {
    const made = mkdirSync(folder, { recursive: true });
    // Under root, PostgreSQL runs as another account: it must pass through the folder, but need not list it.
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
