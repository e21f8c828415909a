/** Exit code of a process whose configuration is wrong (`EX_CONFIG` of sysexits). */
export const EXIT_CONFIGURATION = 78;

/** One error in the configuration. It contains no value of a variable, which may be a secret. */
export interface ConfigurationProblem {
  /** The variable, or the whole name of the setting in the policy file; empty for the file as a whole. */
  readonly name: string;
  readonly message: string;
  /** Where it stands; undefined for a variable. */
  readonly place?: Place;
}

/** A position in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A problem as one line of text, such as `policy.yaml:3:12: retry.hold_delay: must be a duration`. */
export function problemText({ name, message, place }: ConfigurationProblem): string {
  const where = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  if (name === '') return `${where}${message}`;
  return /^(is|has) /.test(message) ? `${where}${name} ${message}` : `${where}${name}: ${message}`;
}

/** All missing and invalid variables and settings. */
export class ConfigurationError extends Error {
  readonly problems: readonly ConfigurationProblem[];

  /** @param document where the variables are documented. */
  constructor(problems: readonly ConfigurationProblem[], document = 'docs/configuration.md') {
    // Several readers may report the same.
    const single = new Map(problems.map((problem) => [problemText(problem), problem]));
    const lines = [...single.keys()].map((text) => `  - ${text}`);
    super(`The configuration is not usable:\n${lines.join('\n')}\nSee ${document}.`);
    this.name = 'ConfigurationError';
    this.problems = [...single.values()];
  }
}

/** Reads a configuration; prints a configuration error and ends the process with exit code 78. */
export function exitOnConfigurationError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIGURATION);
  }
}
