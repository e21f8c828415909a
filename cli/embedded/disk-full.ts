import { codeOf, messageOf } from '#cli/terminal/user-error.ts';

const CODES = new Set(['ENOSPC', 'EDQUOT']);
const TEXT = /no space left|disk quota exceeded|database or disk is full/i;

/** True for an error of the file system, of SQLite or of tar that says that the disk, or a quota, is full. */
export function isDiskFull(error: unknown): boolean {
  return CODES.has(codeOf(error) ?? '') || saysDiskFull(messageOf(error));
}

/** True for the output of a program that has met a full disk. */
export function saysDiskFull(output: string): boolean {
  return TEXT.test(output);
}
