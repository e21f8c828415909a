import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { bodyExampleOf } from '#api/openapi/examples.ts';

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

/** The example of a field. */
export function exampleOf(schema: z.ZodType): string | undefined {
  const example = schema.meta()?.['example'];
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

/** JSON as TypeScript: names without quotes where possible, and single quotes. */
function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\']|\\[^"])*)"/g, "'$1'");
}
