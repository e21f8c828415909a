/** Programs and space that a machine may lack, and the messages about them. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, describe, expect, it } from 'vitest';
import { prepareDataFolder } from '#cli/data-folder/data-folder.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { explained } from '#cli/start/start.ts';
import { report, UserError } from '#cli/terminal/user-error.ts';
import { captured } from '#test/support/cli-output.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const folder = temporaryFolder('machine');

/** A machine without programs, and a proxy address without a server, so that nothing is downloaded. */
const bare = () => ({
  PATH: join(folder, 'bin'),
  HOME: folder,
  HTTPS_PROXY: 'http://127.0.0.1:1',
  https_proxy: 'http://127.0.0.1:1',
});
describe('a machine without a Temporal server', () => {
  it('and without Go gets three alternatives', async () => {
    const failed: unknown = await obtainTemporalCli({ environment: bare(), progress: () => undefined }).catch(
      (error: unknown) => error,
    );
    assert(failed instanceof UserError);
    expect(failed.message).toContain('Go is not installed');
    for (const way of ['install Go 1.25 or later', 'TEMPORAL_CLI_PATH', 'TEMPORAL_ADDRESS'])
      expect(failed.advice).toContain(way);
  });
});

describe('a data folder', () => {
  it('on a full disk is refused before anything is written', () => {
    expect(() => prepareDataFolder(join(folder, 'data'), () => 50 * 1024 ** 2)).toThrow('50 MB are free');
    expect(() => prepareDataFolder(join(folder, 'data'), () => 10 ** 9)).not.toThrow();
  });
});

describe('an unexpected end of npm start', () => {
  const printed = (error: unknown) => {
    const output = captured();
    report(explained(error, folder), output);
    return output.text();
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
