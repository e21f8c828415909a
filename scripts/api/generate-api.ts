/** `npm run generate:api`. `--client`: only the client's parts that are not committed. `npm ci` and tests need them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JSONSchema, compile } from 'json-schema-to-typescript';
import { OPEN_SET } from '#api/openapi/open-sets.ts';
import {
  type DescribedApi,
  type DescribedOperation,
  type DescribedParameter,
  apiDocument,
  readDescription,
} from '#scripts/api/api-document.ts';
import { clientOperations } from '#scripts/api/client-operations.ts';

const PROJECT = join(import.meta.dirname, '../..');
const NOTE = '// Made from the description of the API by `npm run generate:api`; manual changes are lost.\n\n';

export async function documentFiles(): Promise<Readonly<Record<string, string>>> {
  return { 'docs/reference/api.http': httpCollection(readDescription(await apiDocument())) };
}

export async function writeClient(): Promise<void> {
  const api = readDescription(await apiDocument());
  writeChanged({
    'clients/typescript/src/types.ts': NOTE + (await clientTypes(api)),
    'clients/typescript/src/operations.ts': NOTE + clientOperations(api),
  });
}

export function staleFiles(files: Readonly<Record<string, string>>): string[] {
  return Object.keys(files).filter((path) => {
    const file = join(PROJECT, path);
    return !existsSync(file) || readFileSync(file, 'utf8') !== files[path];
  });
}

function writeChanged(files: Readonly<Record<string, string>>): void {
  for (const path of staleFiles(files)) {
    writeFileSync(join(PROJECT, path), files[path] ?? '');
    process.stdout.write(`${path} was written.\n`);
  }
}

/** Gives the generator all schemas at once. It is removed from the result. */
const GATHERED = 'GatheredSchemas';

async function clientTypes(api: DescribedApi): Promise<string> {
  const names = Object.keys(api.schemas);
  const gathered = {
    title: GATHERED,
    type: 'object',
    additionalProperties: false,
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])),
    $defs: prepared(api.schemas),
  } as JSONSchema;
  const text = await compile(gathered, GATHERED, {
    additionalProperties: false,
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120 },
  });
  const all = text.replace(new RegExp(`export interface ${GATHERED} \\{[\\s\\S]*?\\n\\}\\n`), '');
  const doubled = names.filter((name) => !new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(all));
  if (doubled.length > 0) throw new Error(`no type was generated for ${doubled.join(', ')}`);
  return all;
}

/** With other keywords beside a reference, the generator makes a type of each. TypeScript cannot express patterns. */
function prepared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prepared);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, pattern: _pattern, example: _example, examples: _examples, ...rest } = value as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, prepared(each)]));
  // Known values for editors, and any other text: a later version of the API may add values.
  const known = inner[OPEN_SET];
  if (Array.isArray(known)) inner['tsType'] = `(${known.map((each) => `'${each}'`).join(' | ')} | (string & {}))`;
  if (typeof $ref !== 'string') return inner;
  const reference = { $ref: $ref.replace('#/components/schemas/', '#/$defs/') };
  return Object.keys(inner).length === 0 ? reference : { ...inner, allOf: [reference] };
}

const HEAD = `# All calls of the API, for the REST clients of VS Code (REST Client) and JetBrains.
# Generated from /openapi.json by \`npm run generate:api\`; manual changes are lost:
# set the variables in your environment, or in a copy.
#
# The key of a development environment is in .data/dev-api-key. An Idempotency-Key identifies one operation: in VS Code,
# \`{{$guid}}\` is a new one for each request; in JetBrains it is \`{{$uuid}}\`. Ids are examples: replace them.
`;

function httpCollection(api: DescribedApi): string {
  const ids = variablesOf(api);
  const variables = [
    ['baseUrl', 'http://127.0.0.1:3000'],
    ['apiKey', 'rsk_test_…'],
    ['idempotencyKey', '{{$guid}}'],
    ...ids,
  ].map(([name, value]) => `@${name} = ${value}`);
  const groups = api.tags.map(({ name, description }) => {
    const operations = api.operations.filter(({ tag }) => tag === name);
    return [
      `# ${'='.repeat(100)}`,
      `# ${name}${description === undefined ? '' : `: ${description}`}`,
      '',
      ...operations.map((each) => requestOf(each, ids)),
    ].join('\n');
  });
  return [HEAD, variables.join('\n'), '', ...groups].join('\n');
}

function variablesOf(api: DescribedApi): ReadonlyMap<string, string> {
  const parameters = api.operations.flatMap((operation) => operation.parameters);
  return new Map(
    parameters.flatMap(({ in: where, schema: { 'x-kind': kind, example } }) => {
      return where !== 'path' || kind === undefined || typeof example !== 'string' ? [] : [[kind, example]];
    }),
  );
}

function requestOf(operation: DescribedOperation, ids: ReadonlyMap<string, string>): string {
  const { id, method, summary, parameters, body, authenticated } = operation;
  const inQuery = parameters.filter((each) => each.in === 'query');
  const required = inQuery.filter((each) => each.required);
  const given = required.map((each) => `${each.name}=${encodeURIComponent(exampleOf(each))}`);
  const optional = inQuery.filter((each) => !each.required).map(({ name }) => `${name}=`);
  const isKey = ({ name }: DescribedParameter) => name === 'Idempotency-Key';
  const headers = parameters.filter((each) => each.in === 'header' && (each.required || isKey(each)));
  return [
    `### ${summary}`,
    `# @name ${id}`,
    ...(optional.length === 0 ? [] : [`# Also: ${optional.join(', ')}`]),
    `${method.toUpperCase()} {{baseUrl}}${pathOf(operation)}${given.length === 0 ? '' : `?${given.join('&')}`}`,
    ...(authenticated ? ['Authorization: Bearer {{apiKey}}'] : []),
    ...headers.map((each) => `${each.name}: ${isKey(each) ? '{{idempotencyKey}}' : exampleOf(each)}`),
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', '', withVariables(JSON.stringify(body.example ?? {}, undefined, 2), ids)]),
    '',
    '',
  ].join('\n');
}

function pathOf({ path, parameters }: DescribedOperation): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const found = parameters.find((each) => each.in === 'path' && each.name === name);
    const kind = found?.schema['x-kind'];
    return kind === undefined ? encodeURIComponent(found === undefined ? name : exampleOf(found)) : `{{${kind}}}`;
  });
}

function exampleOf({ name, schema, example }: DescribedParameter): string {
  const given = schema.example ?? example;
  return typeof given === 'string' || typeof given === 'number' ? String(given) : name;
}

function withVariables(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replaceAll(/"(\w+)_id": "[a-z]{2,7}_[0-9A-HJKMNP-TV-Z]{26}"/g, (all, kind: string) =>
    ids.has(kind) ? `"${kind}_id": "{{${kind}}}"` : all,
  );
}

if (import.meta.main) {
  await writeClient();
  if (!process.argv.includes('--client')) writeChanged(await documentFiles());
}
