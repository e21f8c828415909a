import { OPEN_SET } from '#api/openapi/open-sets.ts';
import { capitalized } from '#domain/text.ts';
import { ID_PREFIXES } from '#domain/work/identifiers.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { FINAL_STATUSES, statusesOf } from '#domain/work/lifecycle.ts';
import {
  isStream,
  type DescribedApi,
  type DescribedOperation,
  type DescribedParameter,
} from '#scripts/api/api-document.ts';
import { at, textAt } from '#upstream/contract-check/document.ts';

/** Methods take an array instead. */
const COMMAS = ', separated by commas';
const UNNAMED = 'Record<string, unknown>';

type Reading = { readonly kind: 'json'; readonly type: string } | { readonly kind: 'text' | 'bytes' | 'nothing' };

export function clientOperations(api: DescribedApi): string {
  const operations = api.operations.filter((operation) => operation.authenticated && !isStream(operation));
  const closedSets = namedSets(api);
  const methods = operations.map((operation) => methodOf(operation, api, closedSets));
  const types = new Set(methods.flatMap(({ types: used }) => used));
  return [
    "import { Paged } from './paged.ts';",
    "import type { CallOptions, Transport, WriteOptions } from './transport.ts';",
    'import type {',
    ...[...types].toSorted().map((type) => `  ${type},`),
    "} from './types.ts';",
    '',
    '/** Final statuses: work in one of these does not change any more. */',
    `export const FINAL_STATUSES: readonly string[] = [${FINAL_STATUSES.map((status) => `'${status}'`).join(', ')}];`,
    '',
    '/** No event announces these statuses, so no call can wait for them. */',
    `export type UnannouncedStatus = ${unannouncedStatuses(api)};`,
    '',
    '/** The call that reads work, by the prefix of its id, and whether that call can wait for a change. */',
    'export const WORK_READS: Readonly<Record<string, { readonly operation: string; readonly path: string; ' +
      'readonly waits: boolean }>> = {',
    ...workReads(api),
    '};',
    '',
    '/** One value, or several of which any matches. */',
    'export type OneOrMore<Value> = Value | readonly Value[];',
    '',
    ...methods.flatMap(({ query }) => query),
    '/** All calls of the API that need an API key. */',
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

function readsOfWork(api: DescribedApi): readonly { readonly kind: WorkKind; readonly read: DescribedOperation }[] {
  return WORK_KINDS.flatMap((kind) => {
    const read = api.operations.find(
      ({ method, path, parameters }) =>
        method === 'get' && path.endsWith('/{id}') && parameters.some(({ schema }) => schema['x-kind'] === kind),
    );
    return read === undefined ? [] : [{ kind, read }];
  });
}

function workReads(api: DescribedApi): string[] {
  const batch = api.operations.find(({ id }) => id === 'getOrderBatch');
  const reads = [...readsOfWork(api), ...(batch === undefined ? [] : [{ kind: 'orderBatch' as const, read: batch }])];
  return reads.map(({ kind, read: { id, path, parameters } }) => {
    const waits = parameters.some(({ name, in: where }) => where === 'query' && name === 'wait');
    return `  ${ID_PREFIXES[kind]}: { operation: '${id}', path: '${path.replace('/{id}', '')}', waits: ${waits} },`;
  });
}

/** @throws Error when it accepts a status for some kinds of work only. */
function unannouncedStatuses(api: DescribedApi): string {
  const left = new Set<string>();
  const taken = new Set<unknown>();
  for (const { kind, read } of readsOfWork(api)) {
    const until = read.parameters.find(({ name, in: where }) => where === 'query' && name === 'until');
    const values = until === undefined ? undefined : valuesOfList(until.schema);
    if (values === undefined) continue;
    for (const value of values) taken.add(value);
    for (const status of statusesOf(kind)) if (!values.includes(status)) left.add(status);
  }
  const both = [...left].filter((status) => taken.has(status));
  if (both.length > 0) throw new Error(`${both.join(', ')} can be waited for with some kinds of work only`);
  return left.size === 0 ? 'never' : union([...left]).join(' | ');
}

function methodOf(operation: DescribedOperation, api: DescribedApi, closedSets: NamedSets) {
  const { id, method, path, parameters, body, answers } = operation;
  const inPath = parameters.filter((each) => each.in === 'path');
  const inQuery = parameters.filter((each) => each.in === 'query');
  const key = parameters.some(({ name }) => name === 'Idempotency-Key');
  const prefers = parameters.some(({ name }) => name === 'Prefer');
  const success = answers.find(({ status }) => status < 300);
  const reading = readingOf(success);
  const bodyType = body === undefined ? undefined : (nameIn(body.schema) ?? UNNAMED);
  const item = itemOf(success?.schema, api);
  const isPaged = item !== undefined && inQuery.some(({ name }) => name === 'cursor');

  const queryNames = inQuery.map(({ name }) => name).join(', ');
  const needsQuery = inQuery.some(({ required }) => required);
  const optionsType = key || prefers ? 'WriteOptions' : 'CallOptions';
  // The query says little beside the body, so it is given with the options.
  const withOptions = bodyType !== undefined && inQuery.length > 0 && !needsQuery;
  const args = [
    ...inPath.map(({ name, schema }) => `${camel(name)}: ${isNumeric(schema) ? 'string | number' : 'string'}`),
    ...(bodyType === undefined ? [] : [`body: ${bodyType}${body?.required === true ? '' : ' = {}'}`]),
    ...(inQuery.length === 0 || withOptions ? [] : [`query: ${capitalized(id)}Query${needsQuery ? '' : ' = {}'}`]),
    withOptions
      ? `{ ${queryNames}, ...options }: ${capitalized(id)}Query & ${optionsType} = {}`
      : `options: ${optionsType} = {}`,
  ];
  const target = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `\${encodeURIComponent(${camel(name)})}`);
  const call = [
    `operation: '${id}'`,
    `method: '${method.toUpperCase()}'`,
    `path: ${target === path ? `'${path}'` : `\`${target}\``}`,
    ...(inQuery.length === 0 ? [] : [withOptions ? `query: { ${queryNames} }` : 'query']),
    ...(bodyType === undefined ? [] : ['body']),
    ...(key ? ['keyed: true'] : []),
    ...(prefers ? ['prefers: true'] : []),
    'options',
  ].join(', ');
  const result = isPaged ? `Paged<${item}, ${typeOf(reading)}>` : `Promise<${typeOf(reading)}>`;
  const statement = isPaged
    ? 'return new Paged((cursor) => ' +
      `this.transport.json({ ${call.replace(', query,', ', query: { ...query, ...cursor },')} }));`
    : `return this.transport.${reading.kind}({ ${call} });`;
  const text = [
    `  /** ${operation.summary}.${operation.description === '' ? '' : `\n${docOf(operation.description)}\n  `} */`,
    `  ${id}(${args.join(', ')}): ${result} {`,
    `    ${statement}`,
    '  }',
  ].join('\n');
  const types = [
    ...(bodyType === undefined || bodyType.includes('<') ? [] : [bodyType]),
    ...(isPaged ? [item] : []),
    ...(reading.kind === 'json' && !reading.type.includes('<') ? [reading.type] : []),
  ];
  if (inQuery.length === 0) return { text, types, query: [] };
  const setsUsed = inQuery.flatMap(({ schema }) => nameOfSet(schema, closedSets) ?? []);
  return { text, types: [...types, ...setsUsed], query: [queryInterface(id, inQuery, closedSets)] };
}

function docOf(description: string): string {
  return ['', ...description.split('\n')].map((line) => `   * ${line}`.trimEnd()).join('\n');
}

function readingOf(answer: DescribedOperation['answers'][number] | undefined): Reading {
  if (answer === undefined) return { kind: 'nothing' };
  if (answer.contentType === 'application/json') return { kind: 'json', type: nameIn(answer.schema) ?? UNNAMED };
  return { kind: /^text\/|\+xml$/.test(answer.contentType) ? 'text' : 'bytes' };
}

function typeOf(reading: Reading): string {
  if (reading.kind === 'json') return reading.type;
  return { text: 'string', bytes: 'Uint8Array', nothing: 'void' }[reading.kind];
}

function nameIn(schema: unknown): string | undefined {
  return textAt(schema, '$ref')?.split('/').at(-1);
}

function itemOf(schema: unknown, api: DescribedApi): string | undefined {
  const page = api.schemas[nameIn(schema) ?? ''];
  return nameIn(at(at(at(page, 'properties'), 'data'), 'items'));
}

/** By their values. */
type NamedSets = ReadonlyMap<string, string>;

/** A named schema with the same values replaces the values of a parameter. */
function namedSets({ schemas }: DescribedApi): NamedSets {
  return new Map(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const values = enumOf(schema) ?? enumOf(schema, OPEN_SET);
      return values === undefined ? [] : [[keyOf(values), name] as const];
    }),
  );
}

function keyOf(values: readonly unknown[]): string {
  return JSON.stringify(values.map(String).toSorted());
}

function queryInterface(id: string, parameters: readonly DescribedParameter[], closedSets: NamedSets): string {
  const fields = parameters.flatMap(({ name, required, description, schema }) => {
    const field = `  readonly ${name}${required ? '' : '?'}:${queryType(schema, closedSets)};`;
    if (description === undefined) return [field];
    return [`  /** ${schema.type === 'array' ? description.replace(COMMAS, '') : description} */`, field];
  });
  return [`export interface ${capitalized(id)}Query {`, ...fields, '}', ''].join('\n');
}

function queryType(schema: DescribedParameter['schema'], closedSets: NamedSets): string {
  const named = nameOfSet(schema, closedSets);
  const [several, one] = [valuesOfList(schema), enumOf(schema)];
  if (several !== undefined) return ` OneOrMore<${named ?? `${lines(several)}\n  `}>`;
  if (one !== undefined) return named === undefined ? lines(one) : ` ${named}`;
  if (schema.type === 'array') return ' OneOrMore<string>';
  if (schema.type === 'object') return ' Readonly<Record<string, string>>';
  if (schema.type === 'boolean') return ' boolean';
  return schema.type === 'integer' || schema.type === 'number' ? ' number' : ' string';
}

function nameOfSet(schema: DescribedParameter['schema'], closedSets: NamedSets): string | undefined {
  const values = valuesOfList(schema) ?? enumOf(schema);
  return values && closedSets.get(keyOf(values));
}

function valuesOfList({ type, items }: DescribedParameter['schema']): readonly unknown[] | undefined {
  return type === 'array' ? enumOf(items) : undefined;
}

function enumOf(schema: unknown, keyword = 'enum'): readonly unknown[] | undefined {
  const values = at(schema, keyword);
  return Array.isArray(values) ? values : undefined;
}

function union(values: readonly unknown[]): string[] {
  return values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
}

function lines(values: readonly unknown[]): string {
  return union(values)
    .map((value) => `\n    | ${value}`)
    .join('');
}

/** Ids of the service are numbers in bodies, so a path parameter accepts numbers too. */
function isNumeric({ type, example }: DescribedParameter['schema']): boolean {
  return type === 'integer' || (typeof example === 'string' && /^\d+$/.test(example));
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
