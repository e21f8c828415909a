/**
 * An error that the person at the terminal can correct. The message says what happened, `advice` what to do. It is
 * printed without a stack; other errors are bugs and are printed with one.
 */
export class UserError extends Error {
  readonly advice: string;

  /** @param advice one or more full sentences, or lines to type. */
  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
    this.advice = advice;
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** The error and its causes, the outermost first. */
export function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && !chain.includes(each); each = each.cause) chain.push(each);
  return chain;
}

/** The message and the code of the innermost cause: the message of drizzle's error is a whole statement. */
export function reasonOf(error: unknown): string {
  const innermost = chainOf(error).at(-1) ?? error;
  const code = codeOf(innermost);
  // An AggregateError for a refused connection has an empty message.
  const words = messageOf(innermost);
  if (words === '') return code ?? 'no reason given';
  return code === undefined || words.includes(code) ? words : `${words} (${code})`;
}
