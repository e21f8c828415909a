import * as z from 'zod';
import { presentOf, type Environment } from '#config/environment.ts';
import { readPolicy } from '#config/policy/policy-file.ts';
import { SETTING_SCHEMAS } from '#config/policy/policy-schema.ts';
import { fileVariable, isSecret } from '#config/secret-files.ts';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';

export interface ConfiguredValue {
  readonly name: string;
  /** As written; of a secret only that it is set. */
  readonly value: string | undefined;
  readonly source: string;
}

const MASKED = '(secret)';

/** @throws ConfigurationError when the policy file is not usable. Variables are not checked. */
export function configuredValues(environment: Environment, setByStart: readonly string[] = []): ConfiguredValue[] {
  const present = presentOf(environment);
  const policy = readPolicy(environment);
  const variables = Object.values(CONFIGURATION_FIELDS)
    .flatMap((part): [string, z.ZodType][] => Object.entries(part))
    .map(([name, field]) => variable(name, field, present))
    .map((each) => (setByStart.includes(each.name) ? { ...each, source: 'npm start' } : each));
  const settings = [...SETTING_SCHEMAS].map(([name, schema]) => {
    const set = policy.set.get(name);
    if (set === undefined) return { name, value: defaultOf(schema), source: 'default' };
    return { name, value: textOf(set.value), source: `${set.place.file}:${set.place.line}` };
  });
  return [...variables, ...settings];
}

function variable(name: string, field: z.ZodType, present: Readonly<Record<string, string>>): ConfiguredValue {
  const file = isSecret(field) ? present[fileVariable(name)] : undefined;
  if (file !== undefined) return { name, value: MASKED, source: file };
  const value = present[name];
  if (value === undefined) return { name, value: defaultOf(field), source: 'default' };
  return { name, value: isSecret(field) ? MASKED : value, source: 'environment' };
}

function defaultOf(field: z.ZodType): string | undefined {
  const { default: value } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
  return value === undefined || isEmpty ? undefined : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
