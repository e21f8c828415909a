import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { bodyExampleOf } from '#api/openapi/examples.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';

/** The description of the API with samples for the TypeScript client; the reference generates the other samples. */
export function referenceDocument(operations: readonly Operation[], version: string, publicUrl: string): object {
  const document = openApiDocument(operations, version);
  const { paths = {} } = document as { readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>> };
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
    return example !== undefined && /^[a-z]+_/.test(example) && lists.has(list) ? [[example, list]] : [];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** A call with the TypeScript client, as the reference shows it; undefined for calls that the client does not have. */
export function typescriptSample(operation: Operation, publicUrl: string): string | undefined {
  if (operation.scope === undefined) return;
  return [
    "import { ResellerClient } from 'reseller-fulfilment-client';",
    '',
    'const client = new ResellerClient({',
    `  baseUrl: '${publicUrl}',`,
    "  apiKey: process.env['RESELLER_API_KEY'] ?? '',",
    '});',
    '',
    ...statements(operation),
  ].join('\n');
}

function statements(operation: Operation): string[] {
  if (operation.id === 'streamEvents')
    return ['for await (const event of client.streamEvents()) {', '  console.log(event.type, event.subject.id);', '}'];
  const call = `client.${operation.id}(${argumentsOf(operation).join(', ')})`;
  if (operation.query?.shape['cursor'] === undefined) return [`const answer = await ${call};`, 'console.log(answer);'];
  return [`for await (const item of ${call}) {`, '  console.log(item);', '}'];
}

function argumentsOf({ params, body, query, bodyExample }: Operation): string[] {
  const inPath = fieldsOf(params).map(([name, schema]) => `'${exampleOf(schema) ?? name}'`);
  if (body !== undefined) {
    return [...inPath, literal(bodyExampleOf({ body, bodyExample }))];
  }
  const required = fieldsOf(query).filter(([, schema]) => !schema.safeParse(undefined).success);
  if (required.length === 0) return inPath;
  return [...inPath, literal(Object.fromEntries(required.map(([name, schema]) => [name, exampleOf(schema) ?? name])))];
}

function fieldsOf(schema: z.ZodObject | undefined): [string, z.ZodType][] {
  return Object.entries(schema?.shape ?? {}).flatMap(([name, field]: [string, unknown]) =>
    field instanceof z.ZodType ? [[name, field] as [string, z.ZodType]] : [],
  );
}

function exampleOf(schema: z.ZodType): string | undefined {
  const example = schema.meta()?.['example'];
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

/** JSON as TypeScript: names without quotes where possible, and single quotes. */
function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\']|\\[^"])*)"/g, "'$1'");
}
