import type * as z from 'zod';
import type { ServiceErrorCode } from '#upstream/contract.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A wrong answer on purpose: sent unchanged in every shape. */
  readonly verbatim?: true;
}

export function jsonAnswer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } };
}

export type FieldProblems = Readonly<Record<string, string>>;

type RefusalCode = ServiceErrorCode | 'conflict';

export class ServiceError extends Error {
  readonly status: number;
  readonly code: RefusalCode;
  readonly fields: FieldProblems | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: RefusalCode,
    message: string,
    details: { readonly fields?: FieldProblems; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = 'ServiceError';
    this.status = status;
    this.code = code;
    this.fields = details.fields;
    this.headers = details.headers ?? {};
  }

  answer(): Answer {
    const { code, message, fields } = this;
    const error = { code, message, ...(fields === undefined ? {} : { fields }) };
    return jsonAnswer(this.status, { error }, this.headers);
  }
}

export function notFound(what: string): ServiceError {
  return new ServiceError(404, 'not_found', `There is no such ${what}.`);
}

/** @throws ServiceError 404 */
export function existing<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw notFound(what);
  return row;
}

export function validationFailed(fields: FieldProblems): ServiceError {
  return new ServiceError(422, 'validation_failed', `Not accepted: ${Object.keys(fields).join(', ')}.`, { fields });
}

/** @throws ServiceError 422 with every wrong or unknown field. */
export function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems: Record<string, string> = {};
  for (const issue of result.error.issues) {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) problems[[...path, key].join('.')] = 'is not known';
    } else {
      problems[path.join('.') || 'body'] ??= issue.message;
    }
  }
  throw validationFailed(problems);
}
