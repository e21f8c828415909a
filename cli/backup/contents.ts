import { createHash } from 'node:crypto';
import { readFileSync, createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { jsonOf } from '#cli/data-folder/data-folder.ts';
import { UserError, codeOf } from '#cli/terminal/user-error.ts';

/** Written last: a folder without it is no complete backup. */
export const DESCRIPTION = 'backup.json';
export const TEMPORAL_FILE = 'temporal.db';
export const MANIFEST = 'backup_manifest';

const description = z.object({
  format: z.literal(2),
  /** ISO 8601. A restore without an archive ends between them. */
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  serverVersion: z.string(),
  databases: z.array(z.string()),
  timeline: z.int(),
  startLsn: z.string(),
  endLsn: z.string(),
  bytes: z.int(),
  hasTemporalFile: z.boolean(),
  temporalSha256: z.string().optional(),
  /** Check values reveal nothing about the keys. */
  encryptionKeys: z.array(z.object({ keyId: z.string(), checkValue: z.base64(), makesHashes: z.boolean() })),
});

export type BackupDescription = z.output<typeof description>;

/** @throws UserError for an incomplete backup. */
export function readDescription(folder: string): BackupDescription {
  try {
    return description.parse(JSON.parse(readFileSync(join(folder, DESCRIPTION), 'utf8')));
  } catch (error) {
    throw new UserError(
      `${folder} is not a complete backup of \`reseller backup\`: its ${DESCRIPTION} is missing or damaged.`,
      'Name the folder that the command printed, or an older backup.',
      { cause: error },
    );
  }
}

const file = z.object({
  Path: z.string(),
  Size: z.int(),
  'Checksum-Algorithm': z.literal('SHA256'),
  Checksum: z.string(),
});
const files = z.object({ Files: z.array(file).min(1), 'Manifest-Checksum': z.string() });

/** @throws UserError that names the first missing or different file. */
export async function verifyFiles(backup: string, restored: string): Promise<void> {
  if (!existsSync(join(backup, MANIFEST))) throw damaged(backup, MANIFEST);
  const text = readFileSync(join(backup, MANIFEST), 'utf8');
  const manifest = files.safeParse(jsonOf(text));
  // The checksum of the manifest covers all its lines but the last.
  const covered = text.slice(0, text.lastIndexOf('\n', text.trimEnd().length - 1) + 1);
  const sum = createHash('sha256').update(covered).digest('hex');
  if (!manifest.success || manifest.data['Manifest-Checksum'] !== sum) throw damaged(backup, MANIFEST);
  for (const file of manifest.data.Files) {
    if ((await sha256Of(join(restored, file.Path))) !== file.Checksum) throw damaged(backup, file.Path);
  }
}

/** @returns undefined without a file. */
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

export function damaged(backup: string, file: string): UserError {
  return new UserError(
    `The backup ${backup} is damaged: ${file} is missing or has another content than when it was made.`,
    'Use another copy of it, or an older backup. Nothing was restored.',
  );
}
