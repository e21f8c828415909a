import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setCurrent } from '#cli/set-up/deployment.ts';
import { runTemporalCli } from '#cli/set-up/temporal.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const folder = temporaryFolder('temporal-command');
const program = join(folder, 'temporal');
writeFileSync(program, `#!/bin/sh\n{ echo "$@"; env; } > '${join(folder, 'seen')}'\nexit 3\n`);
chmodSync(program, 0o755);

const seen = () => readFileSync(join(folder, 'seen'), 'utf8').split('\n');

describe('reseller temporal', () => {
  it('runs the Temporal CLI with its arguments and the addresses of the set-up, and returns its exit code', () => {
    const settings = {
      TEMPORAL_ADDRESS: '127.0.0.1:17233',
      TEMPORAL_NAMESPACE: 'shop',
      CODEC_PORT: '18234',
      CODEC_TOKEN: 'a-token-of-the-test',
    };
    const code = runTemporalCli(['workflow', 'list', '--limit', '1'], settings, {
      TEMPORAL_CLI_PATH: program,
      HOME: folder,
    });
    expect(code).toBe(3);
    expect(seen()[0]).toBe('workflow list --limit 1');
    expect(seen()).toEqual(
      expect.arrayContaining([
        'TEMPORAL_ADDRESS=127.0.0.1:17233',
        'TEMPORAL_NAMESPACE=shop',
        'TEMPORAL_CODEC_ENDPOINT=http://127.0.0.1:18234',
        'TEMPORAL_CODEC_AUTH=Bearer a-token-of-the-test',
        `HOME=${folder}`,
      ]),
    );
  });
});

describe('reseller deployment', () => {
  it('refuses to send new work to a version and to workers without one, before it connects', async () => {
    await expect(setCurrent('2', { unversioned: true }, {})).rejects.toThrow('Both 2 and --unversioned are given.');
  });
});
