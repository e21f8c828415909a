import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readApiConfig, readWorkerConfig } from '#config/config.ts';
import { ConfigurationError } from '#config/configuration-error.ts';
import { readSettings } from '#simulator/options.ts';
import {
  COMPOSE_VALUES as VALUES,
  composeSecrets,
  composeService,
  composeServices,
  createSecrets,
  environmentHere,
  PROJECT,
  type ComposeService,
} from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** Secrets that not every installation has, by the variable of .env that names the file. */
const OPTIONAL = {
  SERVICE_WEBHOOK_SECRETS_FILE: '/run/secrets/service_webhook_secrets',
  TEMPORAL_API_KEY_FILE: '/run/secrets/temporal_api_key',
  OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/secrets/otlp_headers',
  OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE: '/run/secrets/otlp_traces_headers',
};
const secretsFolder = temporaryFolder('secrets');
createSecrets(secretsFolder);

describe('secrets in docker-compose.yml', () => {
  it.each(Object.keys(composeServices()))(
    'gives %s each secret as a file, but for the password that the images of Temporal need',
    (name) => {
      const ofSecrets = (service: ComposeService) =>
        Object.entries(service.environment).filter(
          ([variable, value]) =>
            /PASSWORD|PWD|SECRET|KEYS|API_KEY|HEADERS|TOKEN(?!_DAYS)/.test(variable) &&
            !['true', 'false'].includes(value),
        );
      const isFile = ([variable]: readonly [string, string]) => variable.endsWith('_FILE');
      const { secrets, environment } = composeService(name);
      const files = ofSecrets(composeService(name, { ...VALUES, ...OPTIONAL })).filter(isFile);
      expect(files.map(([, file]) => file).toSorted()).toEqual(
        secrets.map((secret) => `/run/secrets/${secret}`).toSorted(),
      );
      for (const [variable, value] of ofSecrets(composeService(name)).filter((each) => !isFile(each)))
        expect(value, variable).toBe('${TEMPORAL_DATABASE_PASSWORD:?}');
      expect(JSON.stringify(environment)).not.toMatch(/:\/\/[^"/]*:[^"/@]*@/);
    },
  );

  it('has files for all secrets, which only the owner of the folder can reach and git ignores', () => {
    const files = Object.values(composeSecrets());
    expect(files.map((file) => basename(file)).toSorted()).toEqual(readdirSync(secretsFolder).toSorted());
    for (const file of files) expect(file).toMatch(/^\.\/secrets\//);
    expect(statSync(secretsFolder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(secretsFolder)) expect(statSync(join(secretsFolder, name)).mode & 0o444).toBe(0o444);
    expect(readFileSync(join(PROJECT, '.gitignore'), 'utf8')).toMatch(/^\/secrets\/$/m);
  });

  it('keeps secrets that exist', () => {
    const contents = () => readdirSync(secretsFolder).map((name) => readFileSync(join(secretsFolder, name), 'utf8'));
    const before = contents();
    expect(createSecrets(secretsFolder)).toMatch(/^now write the password at the service into .*service_password$/m);
    expect(contents()).toEqual(before);
  });
});

describe('an optional secret', () => {
  const fileOf = (path: string) => join(secretsFolder, basename(path));
  const configurations = (values: Readonly<Record<string, string>>) => {
    writeFileSync(join(secretsFolder, 'service_password'), 'password');
    const all = { ...VALUES, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', ...values };
    const environment = (name: string) => environmentHere(composeService(name, all), secretsFolder);
    return {
      api: readApiConfig(environment('api')),
      worker: readWorkerConfig(environment('worker')),
      simulator: readSettings(environment('simulator')),
    };
  };
  afterEach(() => {
    for (const path of Object.values(OPTIONAL)) writeFileSync(fileOf(path), '');
  });

  it('is unset although its empty file is mounted, if .env does not name the file', () => {
    const { api, worker, simulator } = configurations({});
    expect(api.webhookSecrets).toEqual([]);
    expect(simulator).toMatchObject({ webhookUrl: 'http://api:3000/webhooks/service', webhookSecret: undefined });
    for (const { temporal, tracing } of [api, worker]) {
      expect(temporal).toMatchObject({ apiKey: undefined, tls: undefined });
      expect(tracing?.headers).toEqual({});
    }
  });

  it('comes from the file that .env names, the webhook secret also in the simulator', () => {
    writeFileSync(fileOf(OPTIONAL.SERVICE_WEBHOOK_SECRETS_FILE), 'whsec_0123456789\n');
    writeFileSync(fileOf(OPTIONAL.TEMPORAL_API_KEY_FILE), 'temporal-key\n');
    writeFileSync(fileOf(OPTIONAL.OTEL_EXPORTER_OTLP_HEADERS_FILE), 'x-api-key=one,x-tenant=a\n');
    writeFileSync(fileOf(OPTIONAL.OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE), 'x-tenant=b\n');
    const { api, worker, simulator } = configurations(OPTIONAL);
    expect(api.webhookSecrets).toMatchObject([{ secret: 'whsec_0123456789' }]);
    expect(simulator.webhookSecret).toBe('whsec_0123456789');
    for (const { temporal, tracing } of [api, worker]) {
      expect(temporal.apiKey).toBe('temporal-key');
      expect(tracing?.headers).toEqual({ 'x-api-key': 'one', 'x-tenant': 'b' });
    }
  });

  it.each(Object.entries(OPTIONAL))('is refused if .env sets %s and the file is empty', (variable, path) => {
    const read = () => configurations({ [variable]: path });
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(`${variable}: the file ${fileOf(path)} is empty`);
  });
});
