/** The schema of the values of the Helm chart, from its `values.yaml` and the schema of the policy file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';

const VALUES = join(import.meta.dirname, '../../ops/helm/reseller-fulfilment/values.yaml');

/** Maps whose names the user chooses. */
const FREE: ReadonlySet<string> = new Set([
  'env',
  'labels',
  'annotations',
  'podAnnotations',
  'nodeSelector',
  'resources',
  'podDisruptionBudget',
]);

/** @param policy the JSON Schema of the policy file. */
export function chartValuesSchema({ $schema: version, ...policy }: Readonly<Record<string, unknown>>): object {
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
  if (FREE.has(name)) return { type: 'object' };
  const properties = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, schemaOf(key, each)]));
  return { type: 'object', properties, additionalProperties: false };
}
