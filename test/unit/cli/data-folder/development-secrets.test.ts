import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSecrets } from '#cli/data-folder/development-secrets.ts';
import { readSecretFile, writeSecretFile } from '#cli/data-folder/secret-file.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const folders: string[] = [];
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('secrets');
  folders.push(folder);
});
afterAll(() => folders.forEach(removeFolder));

const mode = (file: string) => statSync(file).mode & 0o777;

describe('a secret file', () => {
  it('may be read by its owner only, and leaves no other file behind', () => {
    const file = join(folder, 'secret');
    writeSecretFile(file, 'text');
    expect(mode(file)).toBe(0o600);
    expect(readSecretFile(file)).toBe('text');
    expect(readdirSync(folder)).toEqual(['secret']);
  });

  it('that others may read is taken back from them when it is read', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'text');
    chmodSync(file, 0o644);
    expect(readSecretFile(file)).toBe('text');
    expect(mode(file)).toBe(0o600);
  });

  it('that is not there reads as undefined', () => {
    expect(readSecretFile(join(folder, 'absent'))).toBeUndefined();
  });
});

describe('the secrets of a development set-up', () => {
  it('are made once and read ever after', () => {
    const made = loadSecrets(folder);
    expect(mode(join(folder, 'secrets.json'))).toBe(0o600);
    expect(loadSecrets(folder)).toEqual(made);
    expect(Buffer.from(made.encryption_keys.split(':')[1] ?? '', 'base64')).toHaveLength(32);
  });

  it('differ from one set-up to the next', () => {
    const other = join(folder, 'other');
    mkdirSync(other);
    const [first, second] = [loadSecrets(folder), loadSecrets(other)];
    for (const name of Object.keys(first) as (keyof typeof first)[]) expect(first[name]).not.toBe(second[name]);
  });

  it('are not made anew where data exist that only the lost ones open', () => {
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
