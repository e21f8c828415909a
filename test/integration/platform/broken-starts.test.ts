import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { PRODUCT_ENVIRONMENT as PRODUCT } from '#test/support/product-environment.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** A value that no message may contain: the password in the environment. */
const SECRET = PRODUCT.SERVICE_PASSWORD;

const START = ['cli/main.ts', 'start', '--no-demo', '--data', temporaryFolder('start')];

/** Every process, with an environment in which it would start. */
const PROCESSES = {
  API: { args: ['api/main.ts'], environment: PRODUCT },
  worker: { args: ['worker/main.ts'], environment: PRODUCT },
  'codec server': { args: ['platform/temporal/codec-server-main.ts'], environment: PRODUCT },
  'proxy of the Temporal UI': { args: ['platform/temporal/ui-proxy-main.ts'], environment: {} },
  simulator: { args: ['simulator/main.ts'], environment: {} },
  'reseller migrate': { args: ['cli/main.ts', 'migrate'], environment: PRODUCT },
  'reseller config check': { args: ['cli/main.ts', 'config', 'check'], environment: PRODUCT },
  'npm start': { args: START, environment: {} },
  'npm start -- --cluster': { args: [...START, '--cluster'], environment: {} },
} as const;
type ProcessName = keyof typeof PROCESSES;

const folder = temporaryFolder('broken-starts');
function fileWith(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const broken = fileWith('broken.yaml', 'retry: {\n');
const unknown = fileWith('unknown.yaml', 'retry:\n  hold_dealy: 1s\n');
const contradiction = fileWith('contradiction.yaml', 'purchase:\n  send_lease: 5s\n');
const secretFile = fileWith('secret', `${SECRET}\n`);

/** One of each kind, for each process; the tests of `test/unit/config` have all messages. */
const CASES: Readonly<Record<ProcessName, readonly (readonly [Record<string, string>, string])[]>> = {
  API: [
    [{ POLICY_FILE: unknown }, `${unknown}:2:3: retry.hold_dealy is not a setting; did you mean hold_delay?`],
    [{ ENCRYPTION_KEYS: SECRET }, 'ENCRYPTION_KEYS: must be id:base64 pairs'],
  ],
  worker: [
    [{ POLICY_FILE: contradiction }, `${contradiction}:2:15: purchase.send_lease: must be at least a second more`],
    [{ SERVICE_PASSWORD_FILE: secretFile }, 'SERVICE_PASSWORD_FILE: SERVICE_PASSWORD is set too'],
    [{ WORKER_SHUTDOWN_GRACE: SECRET }, 'WORKER_SHUTDOWN_GRACE: must be a duration'],
  ],
  'codec server': [
    [{ ENCRYPTION_KEYS: '', ENCRYPTION_KEYS_FILE: '/none' }, 'ENCRYPTION_KEYS_FILE: the file /none does not exist'],
    [{ CODEC_HOST: '0.0.0.0' }, 'CODEC_HOST: other machines could decrypt everything'],
  ],
  'proxy of the Temporal UI': [[{ TEMPORAL_UI_TARGET: SECRET }, 'TEMPORAL_UI_TARGET: must be a URL']],
  simulator: [[{ SIMULATOR_DIALECT: SECRET }, 'SIMULATOR_DIALECT: ']],
  'reseller migrate': [[{ DATABASE_URL: SECRET }, 'DATABASE_URL: must be a URL that starts with postgres://']],
  'reseller config check': [
    [{ POLICY_FILE: broken }, `${broken}:2:1: `],
    [{ TEMPORAL_UI_TARGET: SECRET }, 'TEMPORAL_UI_TARGET: must be a URL'],
  ],
  'npm start': [
    [{ POLICY_FILE: unknown }, `${unknown}:2:3: retry.hold_dealy is not a setting`],
    [{ API_PROT: '1' }, 'API_PROT is not a variable of this program; did you mean API_PORT?'],
    [{ API_PORT: SECRET, CODEC_PORT: '70000' }, 'API_PORT: must be a port number\n  - CODEC_PORT: must be a port'],
    [{ API_PORT: '3999', CODEC_PORT: '3999' }, 'Port 3999 is set twice, once for the codec server: choose another'],
  ],
  'npm start -- --cluster': [[{ TEMPORAL_ADDRESS: '127.0.0.1:1' }, 'TEMPORAL_ADDRESS is set, and --cluster']],
};

function run(name: ProcessName, variables: Readonly<Record<string, string>>) {
  const { args, environment } = PROCESSES[name];
  const options = { cwd: PROJECT, env: { PATH: process.env['PATH'], HOME: folder, ...environment, ...variables } };
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

describe('a start with a broken configuration', () => {
  it.each(Object.keys(CASES) as ProcessName[])(
    'of %s ends with exit code 78 and one message that names the error, without a secret and without a stack',
    async (name) => {
      for (const [variables, message] of CASES[name]) {
        const { code, stdout, stderr } = await run(name, variables);
        expect({ code, stdout }, stderr).toEqual({ code: 78, stdout: '' });
        expect(stderr).toContain(message);
        expect(stderr.match(/^The configuration is not usable:$/gm)).toHaveLength(1);
        expect(stderr).not.toContain(SECRET);
        expect(stderr).not.toMatch(/^ +at /m);
      }
    },
  );
});
