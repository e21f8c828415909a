import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { MANIFEST } from '#cli/backup/base-backup.ts';
import { codeOf, UserError } from '#cli/terminal/user-error.ts';

const schema = z.object({
  Files: z
    .array(
      z.object({
        Path: z.string(),
        Size: z.int(),
        'Checksum-Algorithm': z.literal('SHA256'),
        Checksum: z.string(),
      }),
    )
    .min(1),
  'Manifest-Checksum': z.string(),
});

/**
 * Compares restored files with the manifest of their backup: none is missing, and each has its SHA-256.
 *
 * @throws UserError that names the first difference.
 */
export async function verifyFiles(backup: string, restored: string): Promise<void> {
  if (!existsSync(join(backup, MANIFEST))) throw damaged(backup, MANIFEST);
  const text = readFileSync(join(backup, MANIFEST), 'utf8');
  const manifest = schema.safeParse(parsed(text));
  // The checksum of the manifest covers all its lines but the last.
  const covered = text.slice(0, text.lastIndexOf('\n', text.trimEnd().length - 1) + 1);
  const sum = createHash('sha256').update(covered).digest('hex');
  if (!manifest.success || manifest.data['Manifest-Checksum'] !== sum) throw damaged(backup, MANIFEST);
  for (const file of manifest.data.Files) {
    if ((await sha256Of(join(restored, file.Path))) !== file.Checksum) throw damaged(backup, file.Path);
  }
}

/** The SHA-256 of a file, hexadecimal; undefined when there is no such file. */
export async function sha256Of(file: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
    return hash.digest('hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param file of the backup that is missing or was changed. */
export function damaged(backup: string, file: string): UserError {
  return new UserError(
    `The backup ${backup} is damaged: ${file} is missing or has another content than when it was made.`,
    'Use another copy of it, or an older backup. Nothing was restored.',
  );
}
