import { rmSync } from 'node:fs';
import { type Output, visibleLines } from '#cli/terminal/output.ts';
import { ConfigurationError, EXIT_CONFIGURATION } from '#config/configuration-error.ts';

/** The person at the terminal can correct it, so it has no stack. Other errors are bugs and are printed with one. */
export class UserError extends Error {
  readonly advice: string;
  readonly exitCode: number;

  constructor(
    message: string,
    advice: string,
    { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {},
  ) {
    super(message, options);
    this.name = 'UserError';
    this.advice = advice;
    this.exitCode = exitCode;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

export function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && !chain.includes(each); each = each.cause) chain.push(each);
  return chain;
}

/** The message of drizzle's error is a whole statement. */
export function reasonOf(error: unknown): string {
  const innermost = chainOf(error).at(-1) ?? error;
  const code = codeOf(innermost);
  // An AggregateError for a refused connection has an empty message.
  const words = messageOf(innermost);
  if (words === '') return code ?? 'no reason given';
  return code === undefined || words.includes(code) ? words : `${words} (${code})`;
}

/** By class name: importing the classes would slow down `--help`. */
const ADVICE: Readonly<Record<string, string>> = {
  DatabaseUnavailableError: 'Check that PostgreSQL runs and that DATABASE_URL is right.',
  OtherInstallationError: '',
  EncryptionKeysError: '',
  SchemaNotCurrentError: '',
  UnreleasedSchemaError: '',
  TemporalUnavailableError: '',
  NamespaceSetUpError: '',
};

const REFUSALS = [
  // SQLSTATEs: authorization, an unknown database, too many connections.
  { codes: /^(?:28|3D|53300$)/, said: 'PostgreSQL refuses the connection', check: 'Check DATABASE_URL' },
  {
    codes: /CERT|UNABLE_TO_VERIFY/,
    said: 'The certificate is not trusted',
    check: 'Check the certificate of the server and the CA',
  },
] as const;

/** What {@link report} prints instead of a stack; undefined: the error is a bug. */
function explanationOf(error: unknown): string | undefined {
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof Error) {
    const advice = error instanceof UserError ? error.advice : ADVICE[error.name];
    if (advice !== undefined) return `\n${[error.message, advice].filter(Boolean).join('\n')}`;
  }
  const chain = chainOf(error);
  return REFUSALS.flatMap(({ codes, said, check }) => {
    const refused = chain.find((each) => codes.test(codeOf(each) ?? ''));
    return refused === undefined
      ? []
      : [`\n${said}: ${refused.message}\n${check}, and DATABASE_DIRECT_URL if it is set.`];
  })[0];
}

export function isExplained(error: unknown): boolean {
  return explanationOf(error) !== undefined;
}

/** @returns the exit code. */
export function report(error: unknown, terminal: Output): number {
  const bug = [
    error instanceof Error ? (error.stack ?? error.message) : String(error),
    ...chainOf(error)
      .slice(1)
      .map((cause) => `Caused by: ${cause.message}`),
  ].join('\n');
  // Error messages have line breaks of ours and contain texts of others.
  terminal.write(visibleLines(`${explanationOf(error) ?? bug}\n`));
  if (error instanceof ConfigurationError) return EXIT_CONFIGURATION;
  return error instanceof UserError ? error.exitCode : 1;
}

/** A quota counts as a full disk, too. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '') || saysDiskFull(messageOf(error));
}

export function saysDiskFull(output: string): boolean {
  return /no space left|disk quota exceeded|database or disk is full/i.test(output);
}

const CANNOT_WRITE = /^E(?:ACCES|EXIST|FBIG|IO|ISDIR|LOOP|NAMETOOLONG|NOTDIR|PERM|ROFS)$/;

/** A failure to remove must not hide the first error. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Also when a part of the path is a file: there is nothing to remove.
  }
}

/** Other errors are returned as they are. */
export function writeFailure(error: unknown, place: string): unknown {
  if (error instanceof UserError) return error;
  if (isDiskFull(error)) {
    return new UserError(
      `No space is left on the disk of ${place}.`,
      'Free some space, or name a place on another disk.',
      { cause: error },
    );
  }
  if (!CANNOT_WRITE.test(codeOf(error) ?? '')) return error;
  return new UserError(
    `${place} cannot be written: ${messageOf(error)}.`,
    'Make it writable for you, or name another place.',
    { cause: error },
  );
}
