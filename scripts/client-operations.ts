import { ID_PREFIXES } from '#domain/identifiers.ts';
import { FINAL_STATUSES } from '#domain/lifecycle.ts';
import { WORK_KINDS } from '#domain/work.ts';
import { isStream, type DescribedApi, type DescribedOperation, type DescribedParameter } from '#scripts/described-api.ts';

/** How an answer is read. */
type Reading = { readonly kind: 'json'; readonly type: string } | { readonly kind: 'text' | 'bytes' | 'nothing' };

/** TypeScript of the class that has a method for every call that takes an API key. */
export function clientOperations(api: DescribedApi): string {
  const operations = api.operations.filter((operation) => operation.authenticated && !isStream(operation));
  const methods = operations.map((operation) => methodOf(operation, api));
  const types = new Set(methods.flatMap(({ types: used }) => used));
  return [
    ...importsOf(types),
    '',
    '/** Nothing happens any more to work with one of these. */',
    `export const FINAL_STATUSES: readonly string[] = [${FINAL_STATUSES.map((status) => `'${status}'`).join(', ')}];`,
    '',
    '/** Where work is read, by the prefix of its id; and whether that call waits for a change by itself. */',
    `export const WORK_READS: Readonly<Record<string, { readonly path: string; readonly waits: boolean }>> = {`,
    ...workReads(api),
    '};',
    '',
    ...methods.flatMap(({ query }) => query),
    '/** Every call of the API that takes a key. */',
    'export class Operations {',
    '  protected readonly transport: Transport;',
    '',
    '  constructor(transport: Transport) {',
    '    this.transport = transport;',
    '  }',
    '',
    methods.map(({ text }) => text).join('\n\n'),
    '}',
    '',
  ].join('\n');
}

function workReads(api: DescribedApi): string[] {
  return WORK_KINDS.flatMap((kind) => {
    const read = api.operations.find(
      ({ method, path, parameters }) => method === 'get' && path.endsWith('/{id}') && parameters.some(({ schema }) => schema['x-kind'] === kind),
    );
    if (read === undefined) return [];
    const waits = read.parameters.some(({ name, in: where }) => where === 'query' && name === 'wait');
    return [`  ${ID_PREFIXES[kind]}: { path: '${read.path.replace('/{id}', '')}', waits: ${waits} },`];
  });
}

function importsOf(types: ReadonlySet<string>): string[] {
  return [
    "import { Paged } from './paged.ts';",
    "import type { CallOptions, Transport, WriteOptions } from './transport.ts';",
    `import type {\n${[...types].toSorted().map((type) => `  ${type},`).join('\n')}\n} from './types.ts';`,
  ];
}

interface Method {
  readonly text: string;
  /** Named types that it uses. */
  readonly types: readonly string[];
  /** The interface of its query, if it has one. */
  readonly query: readonly string[];
}

function methodOf(operation: DescribedOperation, api: DescribedApi): Method {
  const { id, method, path, parameters, body, answers } = operation;
  const inPath = parameters.filter((each) => each.in === 'path');
  const inQuery = parameters.filter((each) => each.in === 'query');
  const key = parameters.some(({ name }) => name === 'Idempotency-Key');
  const prefers = parameters.some(({ name }) => name === 'Prefer');
  const success = answers.find(({ status }) => status < 300);
  const reading = readingOf(success);
  const bodyType = body === undefined ? undefined : (nameIn(body.schema) ?? 'Record<string, unknown>');
  const item = itemOf(success?.schema, api);
  const isPaged = item !== undefined && inQuery.some(({ name }) => name === 'cursor');

  const needsQuery = inQuery.some(({ required }) => required);
  const args = [
    ...inPath.map(({ name }) => `${camel(name)}: string`),
    ...(bodyType === undefined ? [] : [`body: ${bodyType}${body?.required === true ? '' : ' = {}'}`]),
    ...(inQuery.length === 0 ? [] : [`query: ${capital(id)}Query${needsQuery ? '' : ' = {}'}`]),
    `options: ${key || prefers ? 'WriteOptions' : 'CallOptions'} = {}`,
  ];
  const target = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `\${encodeURIComponent(${camel(name)})}`);
  const call = [
    `method: '${method.toUpperCase()}'`,
    `path: ${target === path ? `'${path}'` : `\`${target}\``}`,
    ...(inQuery.length === 0 ? [] : ['query']),
    ...(bodyType === undefined ? [] : ['body']),
    ...(key ? ['keyed: true'] : []),
    ...(prefers ? ['prefers: true'] : []),
    'options',
  ].join(', ');
  const result = isPaged ? `Paged<${item}>` : `Promise<${typeOf(reading)}>`;
  const statement = isPaged
    ? `return new Paged((cursor) => this.transport.json({ ${call.replace(', query,', ', query: { ...query, ...cursor },')} }));`
    : `return this.transport.${reading.kind}({ ${call} });`;
  const text = [
    `  /** ${operation.summary}.${operation.description === '' ? '' : `\n${docOf(operation.description)}\n  `} */`,
    `  ${id}(${args.join(', ')}): ${result} {`,
    `    ${statement}`,
    '  }',
  ].join('\n');
  const types = [
    ...(bodyType === undefined || bodyType.includes('<') ? [] : [bodyType]),
    ...(isPaged ? [item] : reading.kind === 'json' && !reading.type.includes('<') ? [reading.type] : []),
  ];
  return { text, types, query: inQuery.length === 0 ? [] : [queryInterface(id, inQuery)] };
}

function docOf(description: string): string {
  return description.split('\n').map((line) => `   * ${line}`.trimEnd()).join('\n').replace(/^/, '   *\n');
}

function readingOf(answer: DescribedOperation['answers'][number] | undefined): Reading {
  if (answer === undefined) return { kind: 'nothing' };
  if (answer.contentType === 'application/json') return { kind: 'json', type: nameIn(answer.schema) ?? 'Record<string, unknown>' };
  return { kind: /^text\/|\+xml$/.test(answer.contentType) ? 'text' : 'bytes' };
}

function typeOf(reading: Reading): string {
  if (reading.kind === 'json') return reading.type;
  return { text: 'string', bytes: 'Uint8Array', nothing: 'void' }[reading.kind];
}

function nameIn(schema: unknown): string | undefined {
  const reference = typeof schema === 'object' && schema !== null && '$ref' in schema ? schema.$ref : undefined;
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}

/** The type of what a page holds. */
function itemOf(schema: unknown, api: DescribedApi): string | undefined {
  const page = api.schemas[nameIn(schema) ?? ''];
  if (typeof page !== 'object' || page === null || !('properties' in page)) return undefined;
  const { data } = page.properties as { data?: { items?: unknown } };
  return nameIn(data?.items);
}

function queryInterface(id: string, parameters: readonly DescribedParameter[]): string {
  const fields = parameters.flatMap(({ name, required, description, schema }) => [
    ...(description === undefined ? [] : [`  /** ${description} */`]),
    `  readonly ${name}${required ? '' : '?'}:${simpleType(schema)};`,
  ]);
  return [`export interface ${capital(id)}Query {`, ...fields, '}', ''].join('\n');
}

function simpleType(schema: DescribedParameter['schema']): string {
  const { enum: values, type } = schema as { enum?: readonly unknown[]; type?: unknown };
  if (Array.isArray(values)) return values.map((value) => `\n    | ${typeof value === 'string' ? `'${value}'` : String(value)}`).join('');
  if (type === 'integer' || type === 'number') return ' number';
  return type === 'boolean' ? ' boolean' : ' string';
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
