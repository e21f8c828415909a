import * as z from 'zod';
import { flexible, text, type Columns } from '#cli/terminal/columns.ts';
import { type Output, printJson, printLine } from '#cli/terminal/output.ts';
import { printItems } from '#cli/terminal/print-items.ts';
import { readApiConfig, readCodecServerConfig, readUiProxyConfig, readWorkerConfig } from '#config/config.ts';
import { ConfigurationError, EXIT_CONFIGURATION } from '#config/configuration-error.ts';
import { presentOf, readTogether, type Environment } from '#config/environment.ts';
import { readPolicy, readPolicyFile } from '#config/policy/policy-file.ts';
import { SETTING_SCHEMAS } from '#config/policy/policy-schema.ts';
import { fileVariable, isSecret } from '#config/secret-files.ts';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';

const EVERYTHING = {
  api: readApiConfig,
  worker: readWorkerConfig,
  codec: readCodecServerConfig,
  uiProxy: readUiProxyConfig,
};

/** @throws ConfigurationError with every problem, unless printed as JSON. */
export function checkConfiguration(
  file: string | undefined,
  { json }: { readonly json?: boolean },
  environment: Environment,
  output: Output = process.stdout,
): number {
  try {
    if (file === undefined) readTogether(environment, EVERYTHING);
    else readPolicyFile(file);
  } catch (error) {
    if (!(error instanceof ConfigurationError) || json !== true) throw error;
    const problems = error.problems.map(({ name, message, place }) => {
      return { name, message, file: place?.file ?? null, line: place?.line ?? null, column: place?.column ?? null };
    });
    printJson(output, { usable: false, problems });
    return EXIT_CONFIGURATION;
  }
  if (json === true) printJson(output, { usable: true, problems: [] });
  else printLine(output, `${file ?? 'The configuration of API, worker, codec server and proxy of the UI'} is usable.`);
  return 0;
}

interface ConfiguredValue {
  readonly name: string;
  /** As written; of a secret only that it is set. */
  readonly value: string | undefined;
  readonly source: string;
}

const MASKED = '(secret)';

const COLUMNS: Columns<ConfiguredValue> = {
  name: text(({ name }) => name),
  value: flexible(({ value }) => value ?? '–'),
  source: flexible(({ value, source }) => (value === undefined ? '' : source)),
};

export function showConfiguration(
  { json }: { readonly json?: boolean },
  environment: Environment,
  setByStart: readonly string[] = [],
  output: Output = process.stdout,
): void {
  const values = configuredValues(environment, setByStart);
  if (json !== true) return printItems({}, COLUMNS, values, { output, environment, none: '' });
  const complete = values.map((each) => ({ ...each, value: each.value ?? null }));
  printJson(output, complete);
}

/** @throws ConfigurationError when the policy file is not usable. Variables are not checked. */
function configuredValues(environment: Environment, setByStart: readonly string[]): ConfiguredValue[] {
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
