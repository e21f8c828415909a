import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { apiAccess, developmentAccess } from '#cli/api/api-access.ts';
import { DataFolderLock } from '#cli/data-folder/data-folder.ts';
import { devApiKeyFile, loadSecrets, readSecretFile, writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import {
  namesSetByStart,
  readRunningEnvironment,
  removeRunningEnvironment,
  writeRunningEnvironment,
} from '#cli/data-folder/running-environment.ts';
import { Child, identityOf } from '#cli/embedded/child.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { PARTS, readApiConfig, readWorkerConfig } from '#config/config.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder('data-folder')));

const acquire = () => DataFolderLock.acquire(folder, () => undefined);
const lockFile = () => join(folder, 'lock.json');
const mode = (file: string) => statSync(file).mode & 0o777;

const sleeper = () =>
  new Child({
    name: 'sleeper',
    command: 'sleep',
    args: ['600'],
    environment: { PATH: process.env['PATH'] },
    logFile: join(folder, 'log'),
  });

describe('the lock of a data folder', () => {
  it('allows one start at a time, and is free after it', async () => {
    const lock = await acquire();
    expect(mode(lockFile())).toBe(0o600);
    await expect(acquire()).rejects.toThrow(`process ${process.pid}`);
    lock.release();
    expect(existsSync(lockFile())).toBe(false);
    (await acquire()).release();
  });

  it('of a killed start is taken over, and its remaining processes are stopped', async () => {
    const [gone, left] = [sleeper(), sleeper()];
    await gone.kill();
    writeFileSync(lockFile(), JSON.stringify({ owner: gone.identity, children: [gone.identity, left.identity] }));
    const counts: number[] = [];
    const lock = await DataFolderLock.acquire(folder, (count) => counts.push(count));
    expect(counts).toEqual([1]);
    expect(await left.exited).toMatchObject({ signal: 'SIGTERM' });
    lock.release();
  });

  it('of a killed start is taken over by one of two starts at the same time', async () => {
    const [gone, left] = [sleeper(), sleeper()];
    await gone.kill();
    writeFileSync(lockFile(), JSON.stringify({ owner: gone.identity, children: [left.identity] }));
    const starts = await Promise.allSettled([acquire(), acquire()]);
    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(readdirSync(folder).filter((name) => name.startsWith('lock'))).toEqual(['lock.json']);
  });

  it('does not stop another process that now has the number of a remaining one', async () => {
    const innocent = sleeper();
    const another = { pid: innocent.identity!.pid, startedAt: 'at another time' };
    writeFileSync(lockFile(), JSON.stringify({ owner: another, children: [another] }));
    const lock = await DataFolderLock.acquire(folder, () => expect.unreachable());
    expect(identityOf(innocent.identity!.pid)).toEqual(innocent.identity);
    await innocent.kill();
    lock.release();
  });
});

describe('a secret file', () => {
  const secretFile = () => join(folder, 'secret');

  it('may be read by its owner only, and leaves no other file behind', () => {
    writeSecretFile(secretFile(), 'text');
    expect(mode(secretFile())).toBe(0o600);
    expect(readSecretFile(secretFile())).toBe('text');
    expect(readdirSync(folder)).toEqual(['secret']);
  });

  it('that others may read loses these permissions when it is read', () => {
    writeFileSync(secretFile(), 'text');
    chmodSync(secretFile(), 0o644);
    expect(readSecretFile(secretFile())).toBe('text');
    expect(mode(secretFile())).toBe(0o600);
  });
});

describe('the secrets of a development set-up', () => {
  it('are generated once and then read', () => {
    const made = loadSecrets(folder);
    expect(mode(join(folder, 'secrets.json'))).toBe(0o600);
    expect(loadSecrets(folder)).toEqual(made);
    expect(Buffer.from(made.encryption_keys.split(':')[1] ?? '', 'base64')).toHaveLength(32);
  });

  it('are not generated again when data exist that need the lost ones', () => {
    loadSecrets(folder);
    rmSync(join(folder, 'secrets.json'));
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '18');
    expect(() => loadSecrets(folder)).toThrow('is missing');
  });

  it('are not replaced when they are damaged', () => {
    writeFileSync(join(folder, 'secrets.json'), '{"encryption_keys":');
    expect(() => loadSecrets(folder)).toThrow('is damaged');
  });
});

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
  const servers = { databaseUrl: DATABASE_URL, temporalAddress: '127.0.0.1:21004', simulatorData: ':memory:' };
  writeRunningEnvironment(
    folder,
    productEnvironments({ ports: PORTS, ...servers }, SECRETS, environment),
    PORTS,
    environment,
  );
}

describe('the environment of the set-up on a data folder', () => {
  it('has the variables of its processes, suffices for every command, and is readable by its owner only', async () => {
    const lock = await acquire();
    write();
    expect(mode(join(folder, 'environment.json'))).toBe(0o600);
    const environment = readRunningEnvironment(folder);
    expect(readApiConfig(environment)).toMatchObject({ port: 21001, database: { url: DATABASE_URL } });
    expect(readWorkerConfig(environment).probePort).toBe(21002);
    expect(PARTS.service(environment).baseUrl).toBe('http://127.0.0.1:21003/api/reseller/v1');
    expect(environment['PUBLIC_WEBHOOK_URL']).toBe('http://127.0.0.1:21001/webhooks/service');
    lock.release();
  });

  it('contains only variables of the product', async () => {
    const lock = await acquire();
    const ours = { POLICY_FILE: '/etc/reseller/policy.yaml', PUBLIC_WEBHOOK_URL: 'https://shop.example.com/hooks' };
    write({ AWS_SECRET_ACCESS_KEY: 'not-ours', ...ours });
    const environment = readRunningEnvironment(folder);
    expect(Object.values(environment)).not.toContain('not-ours');
    expect(environment).toMatchObject(ours);
    lock.release();
  });

  it('tells which variables the caller has set, and which the start', async () => {
    const lock = await acquire();
    write({ LOG_LEVEL: 'debug', ENCRYPTION_KEYS: SECRETS.encryption_keys, API_PORT: '21009' });
    const names = namesSetByStart(folder);
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL', 'SERVICE_BASE_URL', 'CODEC_PORT', 'API_PORT']));
    for (const name of ['LOG_LEVEL', 'ENCRYPTION_KEYS']) expect(names).not.toContain(name);
    lock.release();
    expect(namesSetByStart(folder)).toEqual([]);
  });

  it('is not used after the set-up has ended, or when none ran', async () => {
    expect(() => readRunningEnvironment(folder)).toThrow(UserError);
    const lock = await acquire();
    write();
    lock.release();
    expect(() => readRunningEnvironment(folder)).toThrow(`Nothing runs on ${folder}.`);
    removeRunningEnvironment(folder);
    expect(existsSync(join(folder, 'environment.json'))).toBe(false);
  });
});

describe('the key of a data folder', () => {
  beforeEach(() => writeSecretFile(devApiKeyFile(folder), 'rsk_of_the_folder\n'));

  it('is sent to no other installation, so without a running set-up the command fails', () => {
    expect(() => apiAccess({ data: folder }, {})).toThrow(UserError);
    expect(() => apiAccess({ data: folder }, {})).toThrow(`Nothing runs on ${folder}.`);
    expect(() => developmentAccess({ data: folder })).toThrow(`Nothing runs on ${folder}.`);
  });

  it('is sent to the address of --api', () => {
    const url = 'http://127.0.0.1:9';
    expect(apiAccess({ data: folder, api: url }, {})).toMatchObject({ url, key: 'rsk_of_the_folder' });
  });
});

describe('a key of the environment', () => {
  it('goes to the usual port without --data, and nowhere with a folder on which nothing runs', () => {
    const environment = { RESELLER_API_KEY: 'rsk_own' };
    expect(apiAccess({}, environment)).toMatchObject({ url: 'http://127.0.0.1:3000', key: 'rsk_own' });
    expect(() => apiAccess({ data: folder }, environment)).toThrow(`Nothing runs on ${folder}.`);
  });
});
