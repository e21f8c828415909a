import { PROBLEMS, type ProblemCode, problemCodes } from '#api/problems/problem-catalogue.ts';

/** One error of a request. The message never contains the value. */
export interface FieldError {
  readonly in: 'body' | 'query' | 'path' | 'header';
  /** Dotted path, such as `max_price.amount`; empty for the whole body. */
  readonly field: string;
  readonly message: string;
}

export interface ProblemOptions {
  /** A sentence about this occurrence; never personal data. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
  /** More members of the body. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Thrown by handlers; the error handler turns it into an answer. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.detail ?? PROBLEMS[code].title, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.detail = options.detail;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.extra = options.extra ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

/** Path of the page that explains a problem. */
export function problemPath(code: ProblemCode): `/problems/${string}` {
  return `/problems/${code.replaceAll('_', '-')}`;
}

/** The `type` of a problem's answers: the address of its page. @param publicUrl address of the API. */
export function problemType(code: ProblemCode, publicUrl: string): string {
  return `${publicUrl}${problemPath(code)}`;
}

/** The code whose page has this name. The code itself is accepted, too. */
export function codeOfProblemPage(name: string): ProblemCode | undefined {
  return problemCodes.find((code) => code === name || problemPath(code) === `/problems/${name}`);
}

/**
 * The body of the answer.
 *
 * @param requestId id for reports of the problem.
 * @param publicUrl address of the API, for the link to the problem's page.
 */
export function problemBody(problem: Problem, requestId: string, publicUrl: string): Record<string, unknown> {
  return {
    type: problemType(problem.code, publicUrl),
    code: problem.code,
    title: PROBLEMS[problem.code].title,
    status: problem.status,
    detail: problem.detail ?? `${PROBLEMS[problem.code].title}. ${PROBLEMS[problem.code].advice}`,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.extra,
    request_id: requestId,
  };
}
