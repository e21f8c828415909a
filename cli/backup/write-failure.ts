import { rmSync } from 'node:fs';
import { isDiskFull } from '#cli/embedded/disk-full.ts';
import { codeOf, messageOf, UserError } from '#cli/terminal/user-error.ts';

const CANNOT_WRITE = new Set([
  'EACCES',
  'EEXIST',
  'EFBIG',
  'EIO',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

/** Removes what a failed copy left. Its failure must not hide the first error. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Also when a part of the path is a file: then there is nothing to remove.
  }
}

/**
 * The failure to write files, with advice. Other errors are returned as they are.
 *
 * @param place the folder or file that was to be written.
 */
export function writeFailure(error: unknown, place: string): unknown {
  if (error instanceof UserError) return error;
  if (isDiskFull(error)) {
    return new UserError(
      `No space is left on the disk of ${place}.`,
      'Free some space, or name a place on another disk.',
      { cause: error },
    );
  }
  if (!CANNOT_WRITE.has(codeOf(error) ?? '')) return error;
  return new UserError(
    `${place} cannot be written: ${messageOf(error)}.`,
    'Make it writable for you, or name another place.',
    { cause: error },
  );
}
