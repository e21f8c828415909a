import type { Problem } from './types.ts';

/** The known values of a set that a later version of the API may extend. A plain `string` stays a `string`. */
export type KnownValue<Value extends string> = [Literal<Value>] extends [never] ? Value : Literal<Value>;

type Literal<Value extends string> = Value extends unknown ? (string extends Value ? never : Value) : never;

/** The stable codes of problems; switch on them. A later version of the API may add codes. */
export type ProblemCode = KnownValue<Problem['code']>;

/** A refusal of the API: `code` is the reason, `problem` the whole answer. */
export class ProblemError<Code extends Problem['code'] = Problem['code']> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly problem: Problem;
  /** Id of the request in the log of the API; quote it when you ask for help. */
  readonly requestId: string;
  /** Milliseconds to wait before the next attempt, if the API names them. */
  readonly retryAfterMs: number | undefined;
  /** The key of the call, if it has one. With it, the same call can be sent again later. */
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

/** True when an error is a problem; if codes are given, only with one of them. */
export function isProblem<Code extends ProblemCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ProblemError<Code> {
  return error instanceof ProblemError && (codes.length === 0 || codes.some((code) => code === error.code));
}

/**
 * No usable answer came; the call may have been carried out. `cause` is undefined when a complete answer came that is
 * not from the API.
 */
export class NoAnswerError extends Error {
  /** Status of an answer that broke off or does not come from the API; undefined when no answer began. */
  readonly status: number | undefined;
  /** Milliseconds to wait before the next attempt, if the answer names them. */
  readonly retryAfterMs: number | undefined;
  /** The key of the call, if it has one. With it, the same call can be sent again later and is carried out once. */
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

/** The work did not reach an expected status in time. It continues. */
export class StillInProgressError<Work> extends Error {
  /** The work as read last. */
  readonly work: Work;

  constructor(message: string, work: Work) {
    super(message);
    this.name = 'StillInProgressError';
    this.work = work;
  }
}
