import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '#cli/terminal/user-error.ts';

/** File of a backup that describes it. Written last: a folder without it is no complete backup. */
export const DESCRIPTION = 'backup.json';
/** Copy of the database file of a Temporal development server. */
export const TEMPORAL_FILE = 'temporal.db';

const schema = z.object({
  format: z.literal(2),
  /** Start and end of the copy, ISO 8601. A restore without an archive ends between them. */
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  serverVersion: z.string(),
  databases: z.array(z.string()),
  timeline: z.int(),
  startLsn: z.string(),
  endLsn: z.string(),
  bytes: z.int(),
  hasTemporalFile: z.boolean(),
  /** SHA-256 of Temporal's file, hexadecimal. */
  temporalSha256: z.string().optional(),
  /** The encryption keys that the database was used with. Check values reveal nothing about the keys. */
  encryptionKeys: z.array(z.object({ keyId: z.string(), checkValue: z.base64(), makesHashes: z.boolean() })),
});

/** What a backup contains, and which encryption keys it needs. */
export type BackupDescription = z.output<typeof schema>;

/** @throws UserError when the folder is no complete backup, or one from before the first release. */
export function readDescription(folder: string): BackupDescription {
  try {
    const description: unknown = JSON.parse(readFileSync(join(folder, DESCRIPTION), 'utf8'));
    if (z.object({ format: z.literal(1) }).safeParse(description).success) throw unreleased(folder);
    return schema.parse(description);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `${folder} is not a complete backup of \`reseller backup\`: its ${DESCRIPTION} is missing or damaged.`,
      'Name the folder that the command printed, or an older backup.',
      { cause: error },
    );
  }
}

function unreleased(folder: string): UserError {
  return new UserError(
    `${folder} is a backup of a version from before the first release. This version cannot use its database. ` +
      'Nothing was restored.',
    'Restore it with the version that made it.',
  );
}
