/**
 * Something the person at the terminal can put right. Its message says what happened and what it means, `advice` what
 * to do; it is printed without a stack. Every other error is a bug and is printed with one.
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

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
