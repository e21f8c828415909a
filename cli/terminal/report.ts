import type { Output } from '#cli/terminal/output.ts';
import { chainOf, codeOf, UserError } from '#cli/terminal/user-error.ts';
import { visibleLines } from '#cli/terminal/visible-text.ts';
import { ConfigurationError, EXIT_CONFIGURATION } from '#config/configuration-error.ts';

/** Advice for errors that are no bugs, by name of their class. Importing the classes would slow down `--help`. */
const ADVICE: Readonly<Record<string, string>> = {
  DatabaseUnavailableError: 'Check that PostgreSQL runs and that DATABASE_URL is right.',
  OtherInstallationError: '',
  EncryptionKeysError: '',
  SchemaNotCurrentError: '',
  UnreleasedSchemaError: '',
  TemporalUnavailableError: '',
  NamespaceSetUpError: '',
};

/** Refusals that are no bugs, by the code of a cause. */
const REFUSALS = [
  // SQLSTATEs: authorization, an unknown database, too many connections.
  { codes: /^(?:28|3D|53300$)/, said: 'PostgreSQL refuses the connection', check: 'Check DATABASE_URL' },
  {
    codes: /CERT|UNABLE_TO_VERIFY/,
    said: 'The certificate is not trusted',
    check: 'Check the certificate of the server and the CA',
  },
] as const;

/** True for an error that {@link report} prints with advice instead of a stack. */
export function isExplained(error: unknown): boolean {
  if (error instanceof UserError || error instanceof ConfigurationError) return true;
  return (error instanceof Error && error.name in ADVICE) || refusalIn(error) !== undefined;
}

/** The first cause that is a refusal. */
function refusalIn(error: unknown) {
  const chain = chainOf(error);
  return REFUSALS.flatMap(({ codes, said, check }) => {
    const refused = chain.find((each) => codes.test(codeOf(each) ?? ''));
    return refused === undefined ? [] : [{ said, check, message: refused.message }];
  })[0];
}

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
  const refusal = refusalIn(error);
  if (refusal !== undefined) {
    const { said, message, check } = refusal;
    output.write(`\n${said}: ${message}\n${check}, and DATABASE_DIRECT_URL if it is set.\n`);
    return 1;
  }
  output.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  for (const cause of chainOf(error).slice(1)) output.write(`Caused by: ${cause.message}\n`);
  return 1;
}
