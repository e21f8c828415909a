import { describe, expect, it } from 'vitest';
import { gapAmong } from '#cli/backup/recovery.ts';

/** The name of a file of the log. */
const file = (timeline: number, log: number, number: number) =>
  [timeline, log, number].map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('');

describe('an archive of the write-ahead log', () => {
  it.each<[string, string[]]>([
    ['no file', []],
    ['consecutive files', [file(1, 0, 5), file(1, 0, 4), file(1, 0, 6)]],
    ['the end of 4 GB in files of 16 MB, and of 64 MB', [file(1, 0, 0xff), file(1, 1, 0)]],
    ['a new timeline that begins anywhere', [file(1, 0, 4), file(2, 0, 4), file(2, 0, 5)]],
    ['a file that is not complete yet', [file(1, 0, 4), `${file(1, 0, 5)}.partial`]],
    ['histories and backups between', [file(1, 0, 4), '00000002.history', `${file(1, 0, 9)}.00000028.backup`]],
  ])('with %s has no gap', (_, names) => {
    expect(gapAmong(names)).toBeUndefined();
  });

  it.each([
    [file(1, 0, 4), file(1, 0, 6)],
    [file(1, 0, 0xfe), file(1, 1, 1)],
    [file(1, 0, 0xff), file(1, 2, 0)],
  ])('with %s and then %s has a gap between them', (before, after) => {
    expect(gapAmong([after, before, file(2, 0, 1)])).toEqual({ before, after });
  });
});
