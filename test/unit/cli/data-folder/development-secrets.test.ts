import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSecrets, readSecretFile, writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let folder: string;
beforeEach(() => void (folder = temporaryFolder('secrets')));

const mode = (file: string) => statSync(file).mode & 0o777;

describe('a secret file', () => {
  it('may be read by its owner only, and leaves no other file behind', () => {
    const file = join(folder, 'secret');
    writeSecretFile(file, 'text');
    expect(mode(file)).toBe(0o600);
    expect(readSecretFile(file)).toBe('text');
    expect(readdirSync(folder)).toEqual(['secret']);
  });

  it('that others may read loses these permissions when it is read', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'text');
    chmodSync(file, 0o644);
    expect(readSecretFile(file)).toBe('text');
    expect(mode(file)).toBe(0o600);
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
