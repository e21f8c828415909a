/**
 * `npm run generate:api-changes`: writes `docs/reference/api-changes.md` from the difference of the recorded
 * description of the API and the present one, by oasdiff. Needs Go. With `--check` it writes nothing, and fails when
 * the file is out of date. With `--record` it records the present description first: do that at a release.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { changesDocument, difference } from '#scripts/api-changes/changes-document.ts';
import { comparableDocument, fingerprint } from '#scripts/api-changes/comparable-document.ts';
import { apiDocument } from '#scripts/api/api-document.ts';

const PROJECT = join(import.meta.dirname, '../..');
/** The Go module with the version of oasdiff. */
const TOOLS = join(PROJECT, 'test/openapi-tools/go');
const RECORDED = join(PROJECT, 'docs/reference/openapi-recorded.json');
const CHANGES = join(PROJECT, 'docs/reference/api-changes.md');

const present = comparableDocument(await apiDocument());
if (process.argv.includes('--record')) writeFileSync(RECORDED, `${JSON.stringify(present, undefined, 1)}\n`);
const recorded: unknown = JSON.parse(readFileSync(RECORDED, 'utf8'));
const text = changesDocument(differencesOf(recorded, present), {
  from: fingerprint(recorded),
  to: fingerprint(present),
});
if (!process.argv.includes('--check')) writeFileSync(CHANGES, text);
else if (readFileSync(CHANGES, 'utf8') !== text) {
  console.error('docs/reference/api-changes.md is out of date. Run npm run generate:api-changes');
  process.exitCode = 1;
}

function differencesOf(from: unknown, to: unknown): z.output<typeof difference>[] {
  const folder = mkdtempSync(join(tmpdir(), 'reseller-api-changes-'));
  try {
    const [before, after] = [join(folder, 'before.json'), join(folder, 'after.json')];
    writeFileSync(before, JSON.stringify(from));
    writeFileSync(after, JSON.stringify(to));
    const { status, stdout, stderr, error } = spawnSync(
      'go',
      ['tool', 'oasdiff', 'changelog', before, after, '-f', 'json'],
      {
        cwd: TOOLS,
        encoding: 'utf8',
        maxBuffer: 256 * 1_048_576,
      },
    );
    if (error !== undefined) throw new Error('Go 1.21 or later is needed, for oasdiff', { cause: error });
    if (status !== 0) throw new Error(`oasdiff failed: ${stderr}`);
    return z.array(difference).parse(JSON.parse(stdout === '' ? '[]' : stdout));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
