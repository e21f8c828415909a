import { flexible, text, type Columns } from '#cli/terminal/columns.ts';
import { type Output, printJson, printLine } from '#cli/terminal/output.ts';
import { printItems } from '#cli/terminal/print-items.ts';
import { readApiConfig, readCodecServerConfig, readUiProxyConfig, readWorkerConfig } from '#config/config.ts';
import { ConfigurationError, EXIT_CONFIGURATION, type ConfigurationProblem } from '#config/configuration-error.ts';
import { configuredValues, type ConfiguredValue } from '#config/configured-values.ts';
import { readTogether, type Environment } from '#config/environment.ts';
import { readPolicyFile } from '#config/policy/policy-file.ts';

interface Form {
  readonly json?: boolean;
}

/** @throws ConfigurationError with every problem, unless printed as JSON. */
export function checkConfiguration(
  file: string | undefined,
  { json }: Form,
  environment: Environment,
  output: Output = process.stdout,
): number {
  try {
    if (file === undefined) readEverything(environment);
    else readPolicyFile(file);
  } catch (error) {
    if (!(error instanceof ConfigurationError) || json !== true) throw error;
    printJson(output, { usable: false, problems: error.problems.map(problemJson) });
    return EXIT_CONFIGURATION;
  }
  if (json === true) printJson(output, { usable: true, problems: [] });
  else printLine(output, `${file ?? 'The configuration of API, worker, codec server and proxy of the UI'} is usable.`);
  return 0;
}

function readEverything(environment: Environment): void {
  readTogether(environment, {
    api: readApiConfig,
    worker: readWorkerConfig,
    codec: readCodecServerConfig,
    uiProxy: readUiProxyConfig,
  });
}

function problemJson({ name, message, place }: ConfigurationProblem) {
  return { name, message, file: place?.file ?? null, line: place?.line ?? null, column: place?.column ?? null };
}

const COLUMNS: Columns<ConfiguredValue> = {
  name: text(({ name }) => name),
  value: flexible(({ value }) => value ?? '–'),
  source: flexible(({ value, source }) => (value === undefined ? '' : source)),
};

export function showConfiguration(
  { json }: Form,
  environment: Environment,
  setByStart: readonly string[] = [],
  output: Output = process.stdout,
): void {
  const values = configuredValues(environment, setByStart);
  if (json === true)
    printJson(
      output,
      values.map((each) => ({ ...each, value: each.value ?? null })),
    );
  else printItems({}, COLUMNS, values, { output, environment, none: '' });
}
