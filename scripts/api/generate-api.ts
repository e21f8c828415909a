/**
 * `npm run generate:api`. With `--client` only the client's parts that are not committed: `npm ci` and tests need them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiDocument, type DescribedApi, readDescription } from '#scripts/api/api-document.ts';
import { clientOperations } from '#scripts/api/client-operations.ts';
import { clientTypes } from '#scripts/api/client-types.ts';
import { httpCollection } from '#scripts/api/http-collection.ts';

const PROJECT = join(import.meta.dirname, '../..');
const NOTE = '// Made from the description of the API by `npm run generate:api`; manual changes are lost.\n\n';

async function clientFiles(api: DescribedApi): Promise<Readonly<Record<string, string>>> {
  return {
    'clients/typescript/src/types.ts': NOTE + (await clientTypes(api)),
    'clients/typescript/src/operations.ts': NOTE + clientOperations(api),
  };
}

export async function documentFiles(): Promise<Readonly<Record<string, string>>> {
  return { 'docs/reference/api.http': httpCollection(readDescription(await apiDocument())) };
}

export async function writeClient(project = PROJECT): Promise<void> {
  writeChanged(project, await clientFiles(readDescription(await apiDocument())));
}

export function staleFiles(files: Readonly<Record<string, string>>, project = PROJECT): string[] {
  return Object.keys(files).filter((path) => {
    const file = join(project, path);
    return !existsSync(file) || readFileSync(file, 'utf8') !== files[path];
  });
}

function writeChanged(project: string, files: Readonly<Record<string, string>>): void {
  for (const path of staleFiles(files, project)) {
    writeFileSync(join(project, path), files[path] ?? '');
    process.stdout.write(`${path} was written.\n`);
  }
}

if (import.meta.main) {
  await writeClient();
  if (!process.argv.includes('--client')) writeChanged(PROJECT, await documentFiles());
}
