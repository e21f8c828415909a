/** Programs and space that a machine may lack, and the messages about them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDataFolder } from '#cli/data-folder/data-folder.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { explained } from '#cli/start/start.ts';
import { report, UserError } from '#cli/terminal/user-error.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeAll(() => {
  folder = temporaryFolder('machine');
});
afterAll(() => removeFolder(folder));

async function failureOf(work: Promise<unknown>): Promise<UserError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof UserError) return error;
  throw new Error(`expected a UserError, got ${String(error)}`);
}

/** A machine without programs, and a proxy address without a server, so that nothing is downloaded. */
const bare = () => ({
  PATH: join(folder, 'bin'),
  HOME: folder,
  HTTPS_PROXY: 'http://127.0.0.1:1',
  https_proxy: 'http://127.0.0.1:1',
});
const progress = () => undefined;

describe('a machine without a Temporal server', () => {
  it('and without Go gets three alternatives', async () => {
    const { message, advice } = await failureOf(obtainTemporalCli({ environment: bare(), progress }));
    expect(message).toContain('Go is not installed');
    expect(advice).toContain('install Go 1.25 or later');
    expect(advice).toContain('TEMPORAL_CLI_PATH');
    expect(advice).toContain('TEMPORAL_ADDRESS');
  });
});

describe('a data folder', () => {
  it('on a full disk is refused before anything is written', () => {
    expect(() => prepareDataFolder(join(folder, 'data'), () => 50 * 1024 ** 2)).toThrow('50 MB are free');
    expect(() => prepareDataFolder(join(folder, 'data'), () => 10 ** 9)).not.toThrow();
  });
});

describe('an old Node', () => {
  it('gets one clear message instead of a syntax error', () => {
    const pretend = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })";
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, 'cli/reseller.mjs', 'start'],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/^This is Node 20\.20\.2, and 24\.12 or later is needed\./);
    expect(stderr).toContain('npm start');
  });
});

describe('an unexpected end of npm start', () => {
  const printed = (error: unknown) => {
    let output = '';
    report(explained(error, folder), {
      write: (text) => {
        output += text;
        return true;
      },
    });
    return output;
  };

  it('on a full disk is one sentence, also when the disk is full for PostgreSQL', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    for (const error of [full, new Error('Failed query', { cause: new Error('could not extend file: No space left') })])
      expect(printed(error)).toBe(
        `\nNo space is left on the disk of ${folder}.\nFree some space, or name a place on another disk.\n`,
      );
  });

  it('tells the causes, and writes the stack into a log', () => {
    mkdirSync(join(folder, 'logs'));
    const said = printed(new Error('the port was lost', { cause: new Error('read ECONNRESET') }));
    expect(said).toContain('unexpected error: the port was lost\nCaused by: read ECONNRESET\n');
    expect(said).not.toMatch(/^ +at /m);
    expect(readFileSync(join(folder, 'logs', 'start.log'), 'utf8')).toMatch(/^ +at /m);
  });
});
