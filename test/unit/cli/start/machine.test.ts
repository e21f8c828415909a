/** Programs and space that a machine may lack, and the messages about them. */
import { mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, describe, expect, it } from 'vitest';
import { prepareDataFolder } from '#cli/data-folder/data-folder.ts';
import { completeInstallation } from '#cli/embedded/postgres-binaries.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { explained } from '#cli/start/start.ts';
import { report, UserError } from '#cli/terminal/user-error.ts';
import { captured } from '#test/support/cli-output.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const folder = temporaryFolder('machine');

describe('a machine without a Temporal server', () => {
  it('and without Go gets three alternatives', async () => {
    // Without programs, and with a proxy address without a server, so that nothing is downloaded.
    const proxy = { HTTPS_PROXY: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1' };
    const environment = { PATH: join(folder, 'bin'), HOME: folder, ...proxy };
    const obtained = obtainTemporalCli({ environment, progress: () => undefined });
    const failed: unknown = await obtained.catch((error: unknown) => error);
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

describe('an embedded PostgreSQL whose install script did not run', () => {
  it('gets its links and executable programs, and a second call changes nothing', () => {
    const native = join(folder, 'native');
    const program = join(native, 'bin', 'postgres');
    mkdirSync(join(native, 'bin'), { recursive: true });
    mkdirSync(join(native, 'lib'));
    writeFileSync(program, '', { mode: 0o644 });
    writeFileSync(join(native, 'lib', 'libx.so.1.2'), '');
    const links = '[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so.1"}]';
    writeFileSync(join(native, 'pg-symlinks.json'), links);
    for (let time = 0; time < 2; time += 1) {
      completeInstallation(native, [program]);
      expect(readlinkSync(join(native, 'lib', 'libx.so.1'))).toBe('libx.so.1.2');
      expect(statSync(program).mode & 0o111).toBe(0o111);
    }
  });
});
