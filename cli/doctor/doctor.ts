import { examine, exitCodeOf } from '#cli/doctor/examine.ts';
import { findingLines, findingsJson } from '#cli/doctor/print.ts';
import { printJson, printLines, type Output } from '#cli/terminal/output.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import type { Environment } from '#config/environment.ts';

export interface DoctorOptions {
  readonly json?: boolean;
  /** Data folder that the environment was read from; advice repeats it in commands. */
  readonly data?: string;
}

/** `reseller doctor`: runs all checks and prints their findings. Spends nothing. @returns the exit code. */
export async function runDoctor(
  options: DoctorOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const terminal = new Terminal(output);
  if (terminal.interactive && options.json !== true) terminal.step('running all checks');
  const findings = await examine(environment, options.data === undefined ? {} : { data: options.data }).finally(() =>
    terminal.close(),
  );
  if (options.json === true) printJson(output, findingsJson(findings));
  else printLines(output, findingLines(findings));
  return exitCodeOf(findings);
}
