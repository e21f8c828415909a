import type { Output } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { visibleLines } from '#cli/terminal/visible-text.ts';
import { ConfigurationError, EXIT_CONFIGURATION } from '#config/configuration-error.ts';

/** Advice for errors that are no bugs, by name of their class. Importing the classes would slow down `--help`. */
const ADVICE: Readonly<Record<string, string>> = {
  DatabaseUnavailableError: 'Check that PostgreSQL runs and that DATABASE_URL is right.',
  OtherInstallationError: '',
  EncryptionKeysError: '',
  SchemaNotCurrentError: '',
  TemporalUnavailableError: '',
  NamespaceSetUpError: '',
};

/** Prints the error of a failed command. @returns the exit code. */
export function report(error: unknown, terminal: Output): number {
  // Error messages have line breaks of ours and contain texts of others.
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
