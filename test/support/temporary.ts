import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '#test/support/at-end.ts';

const made = new Set<string>();
atEnd(() => made.forEach(removeFolder));

/** Creates a temporary folder. It is removed at the latest when this process ends. */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `reseller-${purpose}-`));
  made.add(folder);
  // If the tests run as root, PostgreSQL runs as another account and must be able to enter the folder.
  chmodSync(folder, 0o711);
  return folder;
}

export function removeFolder(folder: string): void {
  made.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
