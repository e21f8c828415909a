import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DataFolderLock } from '#cli/data-folder/data-folder.ts';
import {
  namesSetByStart,
  readRunningEnvironment,
  removeRunningEnvironment,
  writeRunningEnvironment,
} from '#cli/data-folder/running-environment.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { PARTS, readApiConfig, readWorkerConfig } from '#config/config.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder('running')));

const PORTS = {
  api: 21001,
  worker: 21002,
  simulator: 21003,
  temporal: 21004,
  temporalUi: 21005,
  codec: 21006,
  postgres: 21007,
};
const SECRETS = {
  encryption_keys: `dev-1:${Buffer.alloc(32, 1).toString('base64')}`,
  webhook_secret: 'whsec_of_the_test',
  postgres_password: 'the-postgres-password',
  simulator_password: 'the-simulator-password',
};
const DATABASE_URL = 'postgresql://reseller:the-postgres-password@127.0.0.1:21007/reseller';

function write(environment: Readonly<Record<string, string>> = {}): void {
  const layout = {
    ports: PORTS,
    databaseUrl: DATABASE_URL,
    temporalAddress: '127.0.0.1:21004',
    simulatorData: ':memory:',
  };
  writeRunningEnvironment(folder, productEnvironments(layout, SECRETS, environment), PORTS, environment);
}

describe('the environment of the set-up on a data folder', () => {
  it('has the variables of its processes, suffices for every command, and is readable by its owner only', async () => {
    const lock = await DataFolderLock.acquire(folder, () => undefined);
    write();
    expect(statSync(join(folder, 'environment.json')).mode & 0o777).toBe(0o600);
    const environment = readRunningEnvironment(folder);
    expect(readApiConfig(environment)).toMatchObject({ port: 21001, database: { url: DATABASE_URL } });
    expect(readWorkerConfig(environment).probePort).toBe(21002);
    expect(PARTS.service(environment).baseUrl).toBe('http://127.0.0.1:21003/api/reseller/v1');
    expect(environment['PUBLIC_WEBHOOK_URL']).toBe('http://127.0.0.1:21001/webhooks/service');
    lock.release();
  });

  it('contains only variables of the product', async () => {
    const lock = await DataFolderLock.acquire(folder, () => undefined);
    write({
      AWS_SECRET_ACCESS_KEY: 'not-ours',
      POLICY_FILE: '/etc/reseller/policy.yaml',
      PUBLIC_WEBHOOK_URL: 'https://shop.example.com/hooks',
    });
    const environment = readRunningEnvironment(folder);
    expect(Object.values(environment)).not.toContain('not-ours');
    expect(environment).toMatchObject({
      POLICY_FILE: '/etc/reseller/policy.yaml',
      PUBLIC_WEBHOOK_URL: 'https://shop.example.com/hooks',
    });
    lock.release();
  });

  it('tells which variables the caller has set, and which the start', async () => {
    const lock = await DataFolderLock.acquire(folder, () => undefined);
    write({ LOG_LEVEL: 'debug', ENCRYPTION_KEYS: SECRETS.encryption_keys, API_PORT: '21009' });
    const names = namesSetByStart(folder);
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL', 'SERVICE_BASE_URL', 'CODEC_PORT', 'API_PORT']));
    for (const name of ['LOG_LEVEL', 'ENCRYPTION_KEYS']) expect(names).not.toContain(name);
    lock.release();
    expect(namesSetByStart(folder)).toEqual([]);
  });

  it('is not used after the set-up has ended, or when none ran', async () => {
    expect(() => readRunningEnvironment(folder)).toThrow(UserError);
    const lock = await DataFolderLock.acquire(folder, () => undefined);
    write();
    lock.release();
    expect(() => readRunningEnvironment(folder)).toThrow(`Nothing runs on ${folder}.`);
    removeRunningEnvironment(folder);
    expect(existsSync(join(folder, 'environment.json'))).toBe(false);
  });
});
