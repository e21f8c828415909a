import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findTemporalCli, obtainTemporalCli, TEMPORAL_CLI_VERSION } from '#cli/embedded/temporal-cli.ts';
import { startArguments } from '#cli/embedded/temporal-server.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder('cli')));

/** Creates an executable file. */
function program(path: string, code = ''): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${code}`);
  chmodSync(file, 0o755);
  return file;
}

const environment = (more: Record<string, string> = {}) => ({
  PATH: `${join(folder, 'empty')}:${join(folder, 'bin')}`,
  XDG_CACHE_HOME: join(folder, 'cache'),
  ...more,
});

describe('the search for the Temporal CLI', () => {
  it('uses TEMPORAL_CLI_PATH, then the PATH, then the cache, and no other place', () => {
    expect(findTemporalCli(environment())).toBeUndefined();
    const inCache = program(`cache/reseller-fulfilment/temporal-cli-${TEMPORAL_CLI_VERSION}/temporal`);
    expect(findTemporalCli(environment())).toEqual({ path: inCache, source: 'cache' });
    const onPath = program('bin/temporal');
    expect(findTemporalCli(environment())).toEqual({ path: onPath, source: 'PATH' });
    const named = program('named');
    const found = findTemporalCli(environment({ TEMPORAL_CLI_PATH: named }));
    expect(found).toEqual({ path: named, source: 'TEMPORAL_CLI_PATH' });
  });

  it('skips a non-executable file on the PATH, and refuses it in TEMPORAL_CLI_PATH', () => {
    const file = program('bin/temporal');
    chmodSync(file, 0o644);
    expect(findTemporalCli(environment())).toBeUndefined();
    expect(() => findTemporalCli(environment({ TEMPORAL_CLI_PATH: file }))).toThrow('TEMPORAL_CLI_PATH');
  });
});

describe('a missing Temporal CLI', () => {
  it('is built only after a message with the failed download, the duration, the needs and an option', async () => {
    // A Go that reports a good version and fails to build.
    program('bin/go', '[ "$1" = env ] && echo go1.25.0 && exit 0\necho no network >&2\nexit 1\n');
    const heard: string[] = [];
    const result = obtainTemporalCli({
      environment: environment({ PATH: `${join(folder, 'bin')}:/usr/bin:/bin` }),
      progress: (text: string) => void heard.push(`progress: ${text}`),
      announce: (text: string) => void heard.push(text),
      download: () => Promise.resolve(false),
    });
    await expect(result).rejects.toThrow('could not be built');
    const [announced = '', ...more] = heard.filter((text) => !text.startsWith('progress'));
    expect(more).toEqual([]);
    expect(announced).toMatch(/could not be downloaded[^]*once[^]*3 to 6\s+minutes[^]*4 GB[^]*TEMPORAL_CLI_PATH/);
    expect(heard.indexOf(announced)).toBeLessThan(heard.indexOf('progress: fetching the sources'));
  });
});

describe('the start of the Temporal server', () => {
  it('stores its state in a file, and configures the codec server in the UI', () => {
    const ui = { address: '127.9.8.7', port: 20_001 };
    const files = { databaseFile: '/data/t.db', logFile: '/log', environment: {} };
    const list = startArguments(
      { cli: '/temporal', port: 7233, uiPort: 8233, codecEndpoint: 'http://127.0.0.1:8234', ...files },
      ui,
    );
    expect(list).toEqual(
      expect.arrayContaining([
        '--ui-ip=127.9.8.7',
        '--ui-port=20001',
        '--db-filename=t.db',
        '--ui-codec-endpoint=http://127.0.0.1:8234',
      ]),
    );
    expect(list).not.toContain('--headless');
  });
});
