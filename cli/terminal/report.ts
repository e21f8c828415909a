import type { Output } from '#cli/terminal/terminal.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { visibleLines } from '#cli/terminal/visible-text.ts';
import { ConfigurationError, EXIT_CONFIGURATION } from '#config/fields.ts';

/** Errors of the product that are no bug, by name: to import their classes would load half of it for `--help`. */
const ADVICE: Readonly<Record<string, string>> = {
  DatabaseUnavailableError: 'Check that PostgreSQL runs and that DATABASE_URL is right.',
  OtherInstallationError: '',
  EncryptionKeysError: '',
  SchemaNotCurrentError: '',
  TemporalUnavailableError: '',
  NamespaceSetUpError: '',
};

/** Prints why a command failed. @returns the exit code. */
export function report(error: unknown, terminal: Output): number {
  // Errors have lines of ours, and hold texts of others; those of the API are made visible where they are read.
  const output = { write: (text: string) => terminal.write(visibleLines(text)) };
  if (error instanceof ConfigurationError) {
    output.write(`${error.message}\n`);
    return EXIT_CONFIGURATION;
  }
  if (error instanceof UserError) {
    output.write(`\n${[error.message, error.advice].filter(Boolean).join('\n')}\n`);
    return 1;
  }
  const advice = error instanceof Error ? ADVICE[error.name] : undefined;
  if (error instanceof Error && advice !== undefined) {
    output.write(`\n${[error.message, advice].filter(Boolean).join('\n')}\n`);
    return 1;
  }
  output.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}
