/** `npm run generate:policy` */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { policySchema } from '#config/policy/policy-schema.ts';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';

interface Described {
  readonly description: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly type?: string;
}

const SCHEMA_FILE = 'policy.schema.json';
const CHART_VALUES = 'ops/helm/reseller-fulfilment/values.schema.json';

export function policyDocuments(): { readonly path: string; readonly text: string }[] {
  return [
    { path: SCHEMA_FILE, text: `${JSON.stringify(editorSchema(), undefined, 2)}\n` },
    { path: CHART_VALUES, text: `${JSON.stringify(chartValuesSchema(editorSchema()), undefined, 2)}\n` },
    { path: 'policy.example.yaml', text: exampleText() },
  ];
}

function editorSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(policySchema, { io: 'input', target: 'draft-07' });
  // In a group whose settings are all commented out, only the name remains.
  const groups = Object.entries(schema.properties ?? {}).map(
    ([name, group]) => [name, { ...Object(group), type: ['object', 'null'] }] as const,
  );
  const title = 'Policy of reseller-fulfilment: delays, limits and counts';
  return { ...schema, title, properties: Object.fromEntries(groups) };
}

function exampleText(): string {
  const head = `# yaml-language-server: $schema=${SCHEMA_FILE}
#
# Delays, limits and counts: every setting with its default. Copy this file, remove the # before the settings that you
# change, and name the copy in POLICY_FILE, for the API and the worker alike. A setting that is left out keeps its
# default. Durations are written as 500ms, 20s, 10m, 24h or 7d. A piece of work keeps the values of its start.
# \`npx reseller config check FILE\` checks a file. This one is made by \`npm run generate:policy\`.
`;
  const schema = z.toJSONSchema(policySchema, { io: 'input', target: 'draft-07' }) as unknown as Described;
  const groups = Object.entries(schema.properties ?? {}).map(([name, group]) => exampleOfGroup(name, group));
  return [head, ...groups].join('\n');
}

function exampleOfGroup(name: string, { description, properties = {} }: Described): string {
  const settings = Object.entries(properties).flatMap(([setting, described]) => [
    ...wrapped(explanationOf(described), 116).map((line) => `  # ${line}`),
    ...exampleOf(setting, described),
  ]);
  return [...wrapped(description, 118).map((line) => `# ${line}`), `${name}:`, ...settings, ''].join('\n');
}

function exampleOf(setting: string, described: Described): string[] {
  if (setting === 'rules')
    return [
      '  #rules:',
      '  #  price_above_limit: {first_delay: 5m, max_delay: 2h, total: 48h}',
      '  #  supplier_failed: {attempts: 5}',
    ];
  const value: unknown = described.default ?? '500.00 USD';
  return [`  #${setting}: ${Array.isArray(value) ? `[${value.map(String).join(', ')}]` : String(value)}`];
}

function explanationOf({ description, default: value, minimum, maximum, type }: Described): string {
  return [
    description,
    ...(type === 'integer' ? [`From ${minimum} to ${maximum}.`] : []),
    ...(value === undefined ? ['Not set by default.'] : []),
  ].join(' ');
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

const VALUES = join(import.meta.dirname, '../../ops/helm/reseller-fulfilment/values.yaml');

const FREE = /^(?:labels|annotations|podAnnotations|nodeSelector|resources|podDisruptionBudget)$/;

function chartValuesSchema({ $schema: version, ...policy }: Readonly<Record<string, unknown>>): object {
  const values = parse(readFileSync(VALUES, 'utf8')) as Readonly<Record<string, unknown>>;
  const schema = schemaOf('', values);
  const serviceSchema = schemaOf('service', values['service']);
  const modes = CONFIGURATION_FIELDS.service.SERVICE_MODE.unwrap().options;
  return {
    $schema: version,
    ...schema,
    properties: {
      ...schema.properties,
      policy: { ...policy, type: 'object' },
      service: { ...serviceSchema, properties: { ...serviceSchema.properties, mode: { type: 'string', enum: modes } } },
      logLevel: { type: 'string', enum: CONFIGURATION_FIELDS.common.LOG_LEVEL.unwrap().options },
      // Helm adds it to the values of every chart.
      global: { type: 'object' },
    },
  };
}

interface ValueSchema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: false | { readonly type: readonly string[] };
}

function schemaOf(name: string, value: unknown): ValueSchema {
  if (Array.isArray(value)) return { type: 'array' };
  if (typeof value !== 'object' || value === null) return { type: typeof value };
  if (name === 'env') return { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } };
  if (FREE.test(name)) return { type: 'object' };
  const properties = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, schemaOf(key, each)]));
  return { type: 'object', properties, additionalProperties: false };
}

if (import.meta.main) {
  for (const { path, text } of policyDocuments()) writeFileSync(join(import.meta.dirname, '../..', path), text);
}
