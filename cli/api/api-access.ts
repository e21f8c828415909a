import { join, resolve } from 'node:path';
import { DEFAULT_FOLDER } from '#cli/data-folder/data-folder.ts';
import { devApiKeyFile, readDevApiKey } from '#cli/data-folder/development-secrets.ts';
import { findRunningEnvironment } from '#cli/data-folder/running-environment.ts';
import { PORTS } from '#cli/start/settings.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { ConfigurationError } from '#config/configuration-error.ts';
import { presentOf, type Environment } from '#config/environment.ts';
import { readSecretFiles } from '#config/secret-files.ts';

/** Error messages name the sources. */
export interface ApiAccess {
  readonly url: string;
  readonly key: string;
  readonly keyFrom: string;
  readonly log?: string;
}

export interface ApiOptions {
  /** Undefined: the API of the `npm start` that runs on the data folder. */
  readonly api?: string;
  /** Given with --data, or found without it. */
  readonly data?: string;
}

/** @throws ConfigurationError for an unreadable key file; UserError without a key, or when nothing runs. */
export function apiAccess(options: ApiOptions, environment: Environment): ApiAccess {
  const { values, problems } = readSecretFiles(['RESELLER_API_KEY'], presentOf(environment));
  if (problems.length > 0) throw new ConfigurationError(problems);
  const { RESELLER_API_KEY: key } = values;
  const address = environment['RESELLER_URL'];
  const named = { ...options, ...(options.api === undefined && address && { api: address }) };
  if (key !== undefined) return { ...apiAddress(named, options.data !== undefined), key, keyFrom: 'RESELLER_API_KEY' };
  const found = developmentAccess(named);
  if (found !== undefined) return found;
  throw new UserError(
    `There is no API key: RESELLER_API_KEY is not set, and ${folderOf(options)} contains none.`,
    'If `npm start` runs on another folder, give it with --data FOLDER. Otherwise create a key with ' +
      '`npx reseller keys create NAME --scopes orders:read,orders:operate`, and set ' +
      'RESELLER_API_KEY to it.',
  );
}

/** @returns undefined when the folder contains no key. @throws UserError when nothing runs on the folder. */
export function developmentAccess(options: ApiOptions): ApiAccess | undefined {
  const folder = folderOf(options);
  const key = readDevApiKey(folder);
  return key === undefined || key === ''
    ? undefined
    : { ...apiAddress(options, true), key, keyFrom: devApiKeyFile(folder) };
}

function folderOf({ data = DEFAULT_FOLDER }: ApiOptions): string {
  return resolve(data);
}

/** @param mustRun false: without a running set-up, the API of another one at the usual port is used. */
function apiAddress(options: ApiOptions, mustRun: boolean): Pick<ApiAccess, 'url' | 'log'> {
  if (options.api !== undefined) return { url: options.api };
  const folder = folderOf(options);
  const running = findRunningEnvironment(folder);
  // Another installation may listen on the usual port. It must not receive this folder's key or this command.
  if (running === undefined && mustRun) {
    throw new UserError(
      `Nothing runs on ${folder}.`,
      'Run `npm start` with this folder first, in another terminal; or give the address of the API with --api.',
    );
  }
  const url = `http://127.0.0.1:${running?.['API_PORT'] ?? PORTS.api.fallback}`;
  return running === undefined ? { url } : { url, log: join(folder, 'logs', 'api.log') };
}
