import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findTemporalCli, obtainTemporalCli, TEMPORAL_CLI_VERSION } from '#cli/embedded/temporal-cli.ts';
import { startArguments } from '#cli/embedded/temporal-server.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder('cli')));

function program(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

const cached = () => program('cache', 'reseller-fulfilment', `temporal-cli-${TEMPORAL_CLI_VERSION}`, 'temporal');
const environment = (more: Record<string, string> = {}) => ({
  PATH: `${join(folder, 'empty')}:${join(folder, 'bin')}`,
  XDG_CACHE_HOME: join(folder, 'cache'),
  ...more,
});

describe('the search for the Temporal CLI', () => {
  it('uses TEMPORAL_CLI_PATH, then the PATH, then the cache, and no other place', () => {
    expect(findTemporalCli(environment())).toBeUndefined();
    const inCache = cached();
    expect(findTemporalCli(environment())).toEqual({ path: inCache, source: 'cache' });
    const onPath = program('bin', 'temporal');
    expect(findTemporalCli(environment())).toEqual({ path: onPath, source: 'PATH' });
    const named = program('named');
    expect(findTemporalCli(environment({ TEMPORAL_CLI_PATH: named }))).toEqual({
      path: named,
      source: 'TEMPORAL_CLI_PATH',
    });
  });

  it('skips a non-executable file on the PATH, and refuses it in TEMPORAL_CLI_PATH', () => {
    const file = program('bin', 'temporal');
    chmodSync(file, 0o644);
    expect(findTemporalCli(environment())).toBeUndefined();
    expect(() => findTemporalCli(environment({ TEMPORAL_CLI_PATH: file }))).toThrow('TEMPORAL_CLI_PATH');
  });
});

describe('a missing Temporal CLI', () => {
  /** A Go that reports a good version and fails to build. */
  function failingGo(): string {
    const file = program('bin', 'go');
    writeFileSync(file, '#!/bin/sh\n[ "$1" = env ] && echo go1.25.0 && exit 0\necho no network >&2\nexit 1\n');
    chmodSync(file, 0o755);
    return `${join(folder, 'bin')}:/usr/bin:/bin`;
  }
  const obtain = (downloaded: boolean) => {
    const heard: string[] = [];
    const options = {
      environment: environment({ PATH: failingGo() }),
      progress: (text: string) => void heard.push(`progress: ${text}`),
      announce: (text: string) => void heard.push(text),
      download: () => Promise.resolve(downloaded),
    };
    return { heard, result: obtainTemporalCli(options) };
  };

  it('is built only after a message with the failed download, the duration, the needs and an option', async () => {
    const { heard, result } = obtain(false);
    await expect(result).rejects.toThrow('could not be built');
    const [announced = '', ...more] = heard.filter((text) => !text.startsWith('progress'));
    expect(more).toEqual([]);
    expect(announced).toMatch(/could not be downloaded[^]*once[^]*3 to 6\s+minutes[^]*4 GB[^]*TEMPORAL_CLI_PATH/);
    expect(heard.indexOf(announced)).toBeLessThan(heard.indexOf('progress: fetching the sources'));
  });
});

describe('the start of the Temporal server', () => {
  const options = { cli: '/temporal', port: 7233, logFile: '/log', environment: {} };

  it('stores its state in a file, and configures the codec server in the UI', () => {
    const ui = { address: '127.9.8.7', port: 20_001 };
    const list = startArguments(
      { ...options, uiPort: 8233, databaseFile: '/data/t.db', codecEndpoint: 'http://127.0.0.1:8234' },
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
