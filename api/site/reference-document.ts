import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { exampleOf, typescriptSample } from '#api/site/typescript-sample.ts';

interface Paths {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** The description of the API with samples for the TypeScript client; the reference generates the other samples. */
export function referenceDocument(operations: readonly Operation[], version: string, publicUrl: string): object {
  const document = openApiDocument(operations, version);
  const { paths = {} } = document as Paths;
  for (const operation of operations) {
    const source = typescriptSample(operation, publicUrl);
    const described = paths[operation.path]?.[operation.method];
    if (source !== undefined && described !== undefined)
      Object.assign(described, { 'x-codeSamples': [{ lang: 'typescript', label: 'TypeScript', source }] });
  }
  return document;
}

/** By example id in a path, the list that has real ids of its kind: the same path without the id. */
export function exampleIds(operations: readonly Operation[]): Readonly<Record<string, string>> {
  const lists = new Set(
    operations
      .filter(({ method, query }) => method === 'get' && query?.shape['cursor'] !== undefined)
      .map(({ path }) => path),
  );
  const entries = operations.flatMap(({ path, params }) => {
    const list = path.split('/{id}')[0] ?? '';
    const id: unknown = params?.shape['id'];
    const example = id instanceof z.ZodType ? exampleOf(id) : undefined;
    return example !== undefined && /^[a-z]+_/.test(example) && lists.has(list as `/${string}`)
      ? [[example, list]]
      : [];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}
