import { join } from 'node:path';
import { readSecretFile } from '#cli/data-folder/secret-file.ts';

/** Path of the file with the API key of a development set-up. */
export function devApiKeyFile(dataDirectory: string): string {
  return join(dataDirectory, 'dev-api-key');
}

/** @returns undefined if there is no such file. */
export function readDevApiKey(dataDirectory: string): string | undefined {
  return readSecretFile(devApiKeyFile(dataDirectory))?.trim();
}
