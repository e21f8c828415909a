import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '#test/support/at-end.ts';

const made = new Set<string>();
atEnd(() => made.forEach(removeFolder));

/** A folder of its own below the system's temporary one, removed at the latest when this process ends. */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `reseller-${purpose}-`));
  made.add(folder);
  // PostgreSQL runs as another account under root and must be able to pass through.
  chmodSync(folder, 0o711);
  return folder;
}

export function removeFolder(folder: string): void {
  made.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
