import { describe, expect, it } from 'vitest';
import { readApiConfig } from '#config/config.ts';
import { misspelled } from '#config/misspelled.ts';
import { VARIABLE_NAMES } from '#config/variables.ts';

const known = [...VARIABLE_NAMES];
const found = (environment: Record<string, string>) => misspelled(known, environment).map(({ message }) => message);

describe('a misspelled variable', () => {
  it.each([
    ['API_PROT', 'API_PORT'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['SERVICE_WEBHOOK_SECRET', 'SERVICE_WEBHOOK_SECRETS'],
    ['SERVICE_MDOE', 'SERVICE_MODE'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['API_TRUSTED_PROXYS', 'API_TRUSTED_PROXIES'],
    ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS'],
    ['ENCRYPTION_KEY_FILE', 'ENCRYPTION_KEYS_FILE'],
    ['CODEC_ALLOWED_ORIGINS', 'CODEC_ALLOWED_ORIGIN'],
  ])('%s is found, with the name that is meant', (name, meant) => {
    expect(found({ [name]: 'x' })).toEqual([`is not a variable of this program; did you mean ${meant}?`]);
  });

  it.each([
    'APP_PORT',
    'API_KEY',
    'API_URL',
    'API_PORT_3000_TCP',
    'API_SERVICE_HOST',
    'PATH',
    'HOME',
    'SERVICE_NAME',
    'DATABASE_HOST',
    'TEMPORAL_CLI_PATH',
    'WORKER_PORT',
    'PORT',
  ])('%s is not, because it can belong to another program', (name) => expect(found({ [name]: 'x' })).toEqual([]));

  it('is not searched when ours is set: then the other one is meant for another program', () => {
    expect(found({ DATABASE_URI: 'x', DATABASE_URL: 'y' })).toEqual([]);
  });

  it('is none of ours', () => {
    for (const name of known) expect(found({ [name]: 'x' }), name).toEqual([]);
  });

  it('is refused at the start', () => {
    expect(() => readApiConfig({ API_PROT: '8080' })).toThrow(
      'API_PROT is not a variable of this program; did you mean API_PORT?',
    );
  });
});
