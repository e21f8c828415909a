/** Where the commands that act through our REST API find it, and which key they send it. */
import { join, resolve } from 'node:path';
import type { ApiAccess } from '#cli/api/api-client.ts';
import { devApiKeyFile, readDevApiKey } from '#cli/data-folder/dev-api-key-file.ts';
import { findRunningEnvironment } from '#cli/data-folder/running-environment.ts';
import { PORTS } from '#cli/start/settings.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** What the caller says of it. */
export interface ApiOptions {
  /** Base address; that of what runs on the data folder when left out. */
  readonly api?: string;
  /** Data folder of an `npm start`. */
  readonly data: string;
}

/**
 * The API with the key of RESELLER_API_KEY, or with the development key of the data folder.
 *
 * @throws UserError when there is no key, or nothing runs on the folder that is named.
 */
export function apiAccess(options: ApiOptions, environment: Environment): ApiAccess {
  const key = environment['RESELLER_API_KEY'];
  if (key !== undefined && key !== '')
    return { ...apiAddress(options, isNamed(options)), key, keyFrom: 'RESELLER_API_KEY' };
  const found = developmentAccess(options);
  if (found !== undefined) return found;
  throw new UserError(
    `There is no API key: RESELLER_API_KEY is not set, and ${resolve(options.data)} holds none.`,
    'Make one with `npx reseller keys create NAME --scopes orders:read,orders:operate` and put it into RESELLER_API_KEY.',
  );
}

/**
 * The API with the development key of the data folder.
 *
 * @returns undefined where it holds none. @throws UserError when nothing runs on the folder.
 */
export function developmentAccess(options: ApiOptions): ApiAccess | undefined {
  const folder = resolve(options.data);
  const key = readDevApiKey(folder);
  return key === undefined || key === ''
    ? undefined
    : { ...apiAddress(options, true), key, keyFrom: devApiKeyFile(folder) };
}

/** The folder that commands take when none is named. */
const USUAL_FOLDER = '.data';

function isNamed({ data }: ApiOptions): boolean {
  return data !== USUAL_FOLDER;
}

/** @param mustRun false: the API may be another one's than that of the folder, at its usual port. */
function apiAddress({ api, data }: ApiOptions, mustRun: boolean): Pick<ApiAccess, 'url' | 'log'> {
  if (api !== undefined) return { url: api };
  const running = findRunningEnvironment(data);
  // Another installation may listen on the usual port: it must not be sent this folder's key, nor be acted upon in its
  // place.
  if (running === undefined && mustRun) {
    throw new UserError(
      `Nothing runs on ${resolve(data)}.`,
      'Run `npm start` on it first, in another terminal; or name the API with --api.',
    );
  }
  const url = `http://127.0.0.1:${running?.['API_PORT'] ?? PORTS.api.fallback}`;
  return running === undefined ? { url } : { url, log: join(resolve(data), 'logs', 'api.log') };
}
