import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QUICK_START } from '#cli/start/supervisor.ts';
import { PROJECT } from '#test/support/compose.ts';

/** Prints the files of the product's processes, in the order in which Node loads them. */
const PRINT_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load: (url, context, next) => (url.startsWith('file:') && console.log(context.format, url), next(url, context)),
  });
`)}`;

function loaded(script: string, ...args: string[]): string[] {
  const program = `await import(${JSON.stringify(join(PROJECT, script))}); process.exit(0)`;
  const all = [...args, `--import=${PRINT_LOADED}`, '--input-type=module', '--eval', program];
  const lines = execFileSync(process.execPath, all, { encoding: 'utf8' }).trim().split('\n');
  return lines.filter((line) => !line.endsWith('quick-start.mjs'));
}

it('an old Node is named, with the command that installs the right one also where NODE_ENV is production', () => {
  const old = "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } })";
  const args = [`--import=${old}`, join(PROJECT, 'cli/reseller.mjs')];
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const message = /Node 20\.1\.0[^]*`npm ci --include=dev`.*NODE_ENV=production/;
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
});

describe('the quick start', () => {
  it('does not change the code of a process', () => {
    const files = loaded('worker/run.ts', QUICK_START);
    expect(files).toEqual(loaded('worker/run.ts'));
    // The files that it caches are among them.
    expect(files.filter((line) => line.includes('/node_modules/drizzle-orm/')).length).toBeGreaterThan(50);
  });
});
