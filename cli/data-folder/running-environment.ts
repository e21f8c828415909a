import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { DEFAULT_FOLDER, isLocked } from '#cli/data-folder/data-folder.ts';
import { readSecretFile, writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import type { ProductEnvironments } from '#cli/start/environment.ts';
import type { Ports } from '#cli/start/settings.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';
import { VARIABLE_NAMES } from '#config/variables.ts';

const schema = z.object({
  variables: z.record(z.string(), z.string()),
  setByStart: z.array(z.string()),
});

/** Stores only variables of the product: the caller's environment may contain other secrets. */
export function writeRunningEnvironment(
  dataDirectory: string,
  { api, worker, codec }: Pick<ProductEnvironments, 'api' | 'worker' | 'codec'>,
  ports: Pick<Ports, 'api'>,
  caller: Environment,
): void {
  const given = Object.entries<string | undefined>({
    PUBLIC_WEBHOOK_URL: `http://127.0.0.1:${ports.api}/webhooks/service`,
    ...worker,
    ...codec,
    ...api,
  }).filter(([name, value]) => VARIABLE_NAMES.has(name) && value !== undefined && value !== '');
  const setByStart = given.filter(([name, value]) => caller[name] !== value).map(([name]) => name);
  const stored = { variables: Object.fromEntries(given), setByStart };
  writeSecretFile(fileIn(dataDirectory), `${JSON.stringify(stored, undefined, 2)}\n`);
}

export function removeRunningEnvironment(dataDirectory: string): void {
  rmSync(fileIn(dataDirectory), { force: true });
}

/** @throws UserError when none runs. */
export function readRunningEnvironment(data: string): Environment {
  const environment = findRunningEnvironment(data);
  if (environment !== undefined) return environment;
  throw new UserError(
    `Nothing runs on ${resolve(data)}.`,
    'Run `npm start` first, in another terminal; or leave --data out and set the variables of docs/configuration.md.',
  );
}

export function findRunningEnvironment(data: string): Environment | undefined {
  return findStored(data)?.variables;
}

export function namesSetByStart(data: string): readonly string[] {
  return findStored(data)?.setByStart ?? [];
}

function findStored(data: string): z.output<typeof schema> | undefined {
  const dataDirectory = resolve(data);
  const text = isLocked(dataDirectory) ? readSecretFile(fileIn(dataDirectory)) : undefined;
  return text === undefined ? undefined : schema.parse(JSON.parse(text));
}

export function adviceToUseRunning(): string {
  if (!isLocked(DEFAULT_FOLDER)) return '';
  return `\n\`npm start\` runs on ${DEFAULT_FOLDER}: add \`--data ${DEFAULT_FOLDER}\` to use its configuration.\n`;
}

function fileIn(dataDirectory: string): string {
  return join(dataDirectory, 'environment.json');
}
