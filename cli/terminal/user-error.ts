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
