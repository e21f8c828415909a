import { join } from 'node:path';
import { readSecretFile } from '#cli/data-folder/secret-file.ts';

/** Where a development set-up keeps its API key. */
export function devApiKeyFile(dataDirectory: string): string {
  return join(dataDirectory, 'dev-api-key');
}

/** @returns undefined where no set-up has made one. */
export function readDevApiKey(dataDirectory: string): string | undefined {
  return readSecretFile(devApiKeyFile(dataDirectory))?.trim();
}
