import { openApiDocument } from '#api/openapi/openapi.ts';
import { productVersion } from '#api/openapi/version.ts';
import { apiOperations } from '#cli/api/operations.ts';

/** The answer of `GET /openapi.json`, as plain JSON. */
export async function apiDocument(): Promise<unknown> {
  const document: unknown = JSON.parse(JSON.stringify(openApiDocument(await apiOperations(), productVersion())));
  return document;
}
