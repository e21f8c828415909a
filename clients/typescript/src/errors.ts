import type { Problem } from './types.ts';

/** The stable codes of problems; switch on them. */
export type ProblemCode = Problem['code'];

/** The API refused: `code` says why, `problem` is its whole answer. */
export class ProblemError<Code extends ProblemCode = ProblemCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly problem: Problem;
  /** Names the request in the log of the API; quote it when you ask for help. */
  readonly requestId: string;
  /** How long the API asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;
  /** Of a call that carries one: with it the same call can be sent again later. */
  readonly idempotencyKey: string | undefined;

  constructor(problem: Problem & { code: Code }, retryAfterMs: number | undefined, idempotencyKey?: string) {
    super(`${problem.title} (${problem.code})${problem.detail === undefined ? '' : `: ${problem.detail}`}`);
    this.name = 'ProblemError';
    this.code = problem.code;
    this.status = problem.status;
    this.problem = problem;
    this.requestId = problem.request_id;
    this.retryAfterMs = retryAfterMs;
    this.idempotencyKey = idempotencyKey;
  }
}

/** Tells whether something thrown is a problem, with one of these codes if any are named. */
export function isProblem<Code extends ProblemCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ProblemError<Code> {
  return error instanceof ProblemError && (codes.length === 0 || codes.some((code) => code === error.code));
}

/**
 * No usable answer came: the connection failed, time was over, the answer broke off, or something in between answered. It may have been
 * carried out. `cause` is what broke, on the way there or back; undefined when an answer came whole, and was none of the API.
 */
export class NoAnswerError extends Error {
  /** Of the answer that broke off or came from something else; undefined when none began. */
  readonly status: number | undefined;
  /** How long that asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;
  /** Of a call that carries one: with it the same call can be sent again later, and is carried out once. */
  readonly idempotencyKey: string | undefined;

  constructor(
    message: string,
    options: {
      status?: number;
      retryAfterMs?: number | undefined;
      cause?: unknown;
      idempotencyKey?: string | undefined;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'NoAnswerError';
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.idempotencyKey = options.idempotencyKey;
  }
}

/** It has not come to where it was waited for; it goes on by itself. */
export class StillGoingError<Work> extends Error {
  /** As it was read last. */
  readonly work: Work;

  constructor(message: string, work: Work) {
    super(message);
    this.name = 'StillGoingError';
    this.work = work;
  }
}
