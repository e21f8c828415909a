import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';

export const PROJECT = join(import.meta.dirname, '../..');

/** The text of a file of the project. */
export const readProject = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

const service = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  restart: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  command: z.array(z.string()).optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
});
const secret = z.strictObject({ file: z.string() });
const compose = z.looseObject({ services: z.record(z.string(), service), secrets: z.record(z.string(), secret) });

export type ComposeService = z.output<typeof service>;

/** docker-compose.yml as plain data. Merge keys are resolved, variables are not. */
export function rawCompose(): unknown {
  return parse(readProject('docker-compose.yml'), { merge: true });
}

/**
 * The services of docker-compose.yml.
 *
 * @param values content of a .env file. Without it variables are not replaced.
 * @throws Error that names a missing required variable.
 */
export function composeServices(values?: Readonly<Record<string, string>>): Record<string, ComposeService> {
  const raw = rawCompose();
  if (values === undefined) return compose.parse(raw).services;
  const text = JSON.stringify(raw, (_, value: unknown) =>
    typeof value === 'string' ? interpolated(value, values) : value,
  );
  return compose.parse(JSON.parse(text)).services;
}

/** What every installation must enter in .env. */
export const COMPOSE_VALUES = {
  TEMPORAL_DATABASE_PASSWORD: 'c3',
  SERVICE_BASE_URL: 'http://simulator:4000/api/reseller/v1',
  SERVICE_EMAIL: 'reseller@example.com',
};

/** Creates the files of the secrets as an installation does. @returns what the script prints. */
export function createSecrets(folder: string): string {
  return execFileSync(join(PROJECT, 'ops/compose/create-secrets.sh'), [folder], { encoding: 'utf8' });
}

export function composeSecrets(): Record<string, string> {
  const { secrets } = compose.parse(rawCompose());
  return Object.fromEntries(Object.entries(secrets).map(([name, { file }]) => [name, file]));
}

/** A service by name. @throws Error if there is none. */
export function composeService(name: string, values?: Readonly<Record<string, string>>): ComposeService {
  const found = composeServices(values)[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

/**
 * The environment of a service, with mounted files at their places on this machine.
 *
 * @param folder with a file for each secret, as in the folder `secrets`.
 */
export function environmentHere(
  { environment, volumes, secrets }: ComposeService,
  folder: string,
): Record<string, string> {
  const mounts = [
    ...volumes.map((volume) => volume.split(':')).map(([source = '', target]) => [join(PROJECT, source), target]),
    ...secrets.map((name) => [join(folder, name), `/run/secrets/${name}`]),
  ];
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, mounts.find(([, to]) => to === value)?.[0] ?? value]),
  );
}

/** `${NAME:?…}` must be set, `${NAME:-text}` has a default. The file uses only these two forms. */
const VARIABLE = /\$\{([A-Z][A-Z0-9_]*):([?-])([^}]*)\}/g;

/** Every variable that the file takes from .env. */
export function composeVariables() {
  const found = new Map<string, { readonly name: string; readonly required: boolean }>();
  for (const [, name = '', kind] of JSON.stringify(rawCompose()).matchAll(VARIABLE))
    found.set(name, { name, required: kind === '?' });
  return [...found.values()];
}

function interpolated(text: string, values: Readonly<Record<string, string>>): string {
  const result = text.replaceAll(VARIABLE, (_, name: string, kind: string, fallback: string) => {
    const value = values[name];
    if (value !== undefined && value !== '') return value;
    if (kind === '?') throw new Error(`docker-compose.yml needs ${name}`);
    return fallback;
  });
  if (result.includes('${')) throw new Error(`unknown form of a variable: ${text}`);
  return result;
}
