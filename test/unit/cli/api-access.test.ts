import { beforeEach, describe, expect, it } from 'vitest';
import { apiAccess, developmentAccess } from '#cli/api/api-access.ts';
import { devApiKeyFile, writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

let data: string;
beforeEach(() => void (data = temporaryFolder('api-access')));

describe('the key of a data folder', () => {
  beforeEach(() => writeSecretFile(devApiKeyFile(data), 'rsk_of_the_folder\n'));

  it('is sent to no other installation, so without a running set-up the command fails', () => {
    expect(() => apiAccess({ data }, {})).toThrow(UserError);
    expect(() => apiAccess({ data }, {})).toThrow(`Nothing runs on ${data}.`);
    expect(() => developmentAccess({ data })).toThrow(`Nothing runs on ${data}.`);
  });

  it('is sent to the address of --api', () => {
    expect(apiAccess({ data, api: 'http://127.0.0.1:9' }, {})).toMatchObject({
      url: 'http://127.0.0.1:9',
      key: 'rsk_of_the_folder',
    });
  });
});

describe('a key of the environment', () => {
  it('goes to the usual port without --data, and nowhere with a folder on which nothing runs', () => {
    const environment = { RESELLER_API_KEY: 'rsk_own' };
    expect(apiAccess({}, environment)).toMatchObject({ url: 'http://127.0.0.1:3000', key: 'rsk_own' });
    expect(() => apiAccess({ data }, environment)).toThrow(`Nothing runs on ${data}.`);
  });
});
