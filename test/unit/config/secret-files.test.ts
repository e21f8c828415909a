import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PARTS } from '#config/config.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

function fileWith(text: string): string {
  const file = join(temporaryFolder('secret'), 'secret');
  writeFileSync(file, text);
  return file;
}

const SERVICE = { SERVICE_BASE_URL: 'https://service.example/api/reseller/v1', SERVICE_EMAIL: 'shop@example.com' };
const URL = 'postgres://reseller@127.0.0.1:5432/reseller';

describe('a secret in a file', () => {
  it.each([
    ['secret', 'secret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    [' two words \n\n', ' two words \n'],
  ])('is the content without the line break at its end: %j', (text, secret) => {
    expect(PARTS.service({ ...SERVICE, SERVICE_PASSWORD_FILE: fileWith(text) }).password).toBe(secret);
  });

  it('is refused beside its variable, without the value', () => {
    const both = () => PARTS.service({ ...SERVICE, SERVICE_PASSWORD: 'p4ss', SERVICE_PASSWORD_FILE: fileWith('x') });
    expect(both).toThrow(/SERVICE_PASSWORD_FILE: SERVICE_PASSWORD is set too: use one of them/);
    expect(both).not.toThrow(/p4ss/);
  });

  it('must exist, be a file, and have content', () => {
    const read = (file: string) => () => PARTS.service({ ...SERVICE, SERVICE_PASSWORD_FILE: file });
    expect(read('/nowhere/secret')).toThrow('SERVICE_PASSWORD_FILE: the file /nowhere/secret does not exist');
    expect(read('/nowhere/secret')).not.toThrow(/is missing/);
    expect(read(temporaryFolder('secret'))).toThrow(/is a folder/);
    expect(read(fileWith('\n'))).toThrow(/is empty/);
    expect(read(fileWith('x'.repeat(70_000)))).toThrow(/is too long for a secret/);
  });
});

describe('DATABASE_PASSWORD', () => {
  it('is the password of both addresses', () => {
    const database = PARTS.database({
      DATABASE_URL: URL,
      DATABASE_DIRECT_URL: 'postgres://reseller@direct/reseller',
      DATABASE_PASSWORD_FILE: fileWith('p@ss/word\n'),
    });
    expect(database.url).toBe('postgres://reseller:p%40ss%2Fword@127.0.0.1:5432/reseller');
    expect(database.directUrl).toBe('postgres://reseller:p%40ss%2Fword@direct/reseller');
  });

  it('is refused beside a password in the address', () => {
    expect(() => PARTS.database({ DATABASE_URL: 'postgres://a:b@c/d', DATABASE_PASSWORD: 'x' })).toThrow(
      'DATABASE_URL: contains a password, and DATABASE_PASSWORD is set too: use one',
    );
  });
});
