import { examine, exitCodeOf } from '#cli/doctor/examine.ts';
import { findingLines, findingsJson } from '#cli/doctor/print.ts';
import { type Output, Terminal } from '#cli/terminal/terminal.ts';
import { printJson, printLines } from '#cli/terminal/visible-text.ts';
import type { Environment } from '#config/environment.ts';

export interface DoctorOptions {
  readonly json?: boolean;
  /** The folder that the environment was read from, for what is advised to type. */
  readonly data?: string;
}

/** `reseller doctor`: looks at everything a set-up depends on and spends nothing. @returns the exit code. */
export async function runDoctor(
  options: DoctorOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const terminal = new Terminal(output);
  // In a file or a pipe it would only be in the way.
  if (terminal.interactive && options.json !== true) terminal.step('looking at everything');
  const findings = await examine(environment, options.data === undefined ? {} : { data: options.data }).finally(() =>
    terminal.close(),
  );
  if (options.json === true) printJson(output, findingsJson(findings));
  else printLines(output, findingLines(findings));
  return exitCodeOf(findings);
}
