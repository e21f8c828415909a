/**
 * `npm run generate:api`: writes all files that are generated from the description of the API. With `--check` it writes
 * nothing, and fails when a file is out of date.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiOperations, apiDocument } from '#scripts/api/api-document.ts';
import { cliCalls } from '#scripts/api/cli-calls.ts';
import { clientOperations } from '#scripts/api/client-operations.ts';
import { clientTypes } from '#scripts/api/client-types.ts';
import { readDescription } from '#scripts/api/described-api.ts';
import { errorsDocument } from '#scripts/api/errors-document.ts';
import { httpCollection } from '#scripts/api/http-collection.ts';

const PROJECT = join(import.meta.dirname, '../..');
const NOTE = '// Generated from /openapi.json by `npm run generate:api`; manual changes are lost.\n\n';

/** The generated contents by path, relative to the project. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  const api = readDescription(await apiDocument());
  return {
    'clients/typescript/src/types.ts': NOTE + (await clientTypes(api)),
    'clients/typescript/src/operations.ts': NOTE + clientOperations(api),
    'cli/resources/described-calls.ts': NOTE + cliCalls(api),
    'docs/reference/api.http': httpCollection(api),
    'docs/reference/errors.md': errorsDocument(await apiOperations()),
  };
}

/** @returns the paths whose content differs. */
export function staleFiles(files: Readonly<Record<string, string>>): string[] {
  return Object.entries(files)
    .filter(
      ([path, content]) => !existsSync(join(PROJECT, path)) || readFileSync(join(PROJECT, path), 'utf8') !== content,
    )
    .map(([path]) => path);
}

if (import.meta.main) {
  const files = await generatedFiles();
  const stale = staleFiles(files);
  if (process.argv.includes('--check')) {
    for (const path of stale) console.error(`${path} is out of date. Run npm run generate:api`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    for (const path of stale) {
      mkdirSync(dirname(join(PROJECT, path)), { recursive: true });
      writeFileSync(join(PROJECT, path), files[path] ?? '');
      console.log(path);
    }
    console.log(`${stale.length} of ${Object.keys(files).length} files were written.`);
  }
}
