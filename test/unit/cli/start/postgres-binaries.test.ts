import { mkdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeInstallation } from '#cli/embedded/postgres-binaries.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const folder = temporaryFolder('binaries');

describe('an embedded PostgreSQL whose install script did not run', () => {
  it('gets its links and executable programs, and a second call changes nothing', () => {
    const native = join(folder, 'native');
    const program = join(native, 'bin', 'postgres');
    mkdirSync(join(native, 'bin'), { recursive: true });
    mkdirSync(join(native, 'lib'));
    writeFileSync(program, '', { mode: 0o644 });
    writeFileSync(join(native, 'lib', 'libx.so.1.2'), '');
    writeFileSync(
      join(native, 'pg-symlinks.json'),
      '[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so.1"}]',
    );
    for (let time = 0; time < 2; time += 1) {
      completeInstallation(native, [program]);
      expect(readlinkSync(join(native, 'lib', 'libx.so.1'))).toBe('libx.so.1.2');
      expect(statSync(program).mode & 0o111).toBe(0o111);
    }
  });
});
