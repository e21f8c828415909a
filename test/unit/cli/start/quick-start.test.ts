import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QUICK_START } from '#cli/start/part.ts';
import { PROJECT } from '#test/support/compose.ts';

/** Prints the files that the processes of the product are made of, in the order in which Node loads them. */
const PRINT_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => (url.startsWith('file:') && console.log(context.format, url), next(url, context)) });
`)}`;

function loaded(script: string, ...args: string[]): string[] {
  const program = `await import(${JSON.stringify(join(PROJECT, script))}); process.exit(0)`;
  const output = execFileSync(
    process.execPath,
    [...args, `--import=${PRINT_LOADED}`, '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  return output
    .trim()
    .split('\n')
    .filter((line) => !line.endsWith('quick-start.mjs'));
}

describe('the quick start', () => {
  it('changes nothing of what a process is made of', { timeout: 120_000 }, () => {
    const files = loaded('worker/run.ts', QUICK_START);
    expect(files).toEqual(loaded('worker/run.ts'));
    // What it is there for is among them.
    expect(files.filter((line) => line.includes('/node_modules/drizzle-orm/')).length).toBeGreaterThan(50);
  });
});
