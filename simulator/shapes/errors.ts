import type { Answer } from '#simulator/service/errors.ts';
import { jsonFrom, objectSchema, type Json, type JsonObject } from '#simulator/shapes/json.ts';
import type { Shape } from '#simulator/shapes/shape.ts';
import { serviceErrorBody } from '#upstream/contract.ts';

/** The error body of a shape. */
interface ErrorShape {
  /** Undefined when there is no body. */
  readonly contentType: string | undefined;
  readonly schema: JsonObject;
  readonly body: (error: ErrorContent) => Json;
}

interface ErrorContent {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string>> | undefined;
}

const PROBLEM_BASE = 'https://errors.simulator.example/problems/';
const JSON_TYPE = 'application/json';
const text: JsonObject = { type: 'string' };
const listsByField: JsonObject = { type: 'object', additionalProperties: { type: 'array', items: text } };

const listed = (fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, problem]) => [name, [problem]]));

function problem(separator: string): ErrorShape {
  const { properties, ...rest } = objectSchema({ type: text, title: text, status: { type: 'integer' }, detail: text });
  return {
    contentType: 'application/problem+json',
    schema: { ...rest, properties: { ...(properties as JsonObject), errors: listsByField } },
    body: ({ status, code, message, fields }) => ({
      type: `${PROBLEM_BASE}${code.replaceAll('_', separator)}`,
      title: code.replaceAll('_', ' '),
      status,
      detail: message,
      ...(fields === undefined ? {} : { errors: listed(fields) }),
    }),
  };
}

const html = ({ status, message }: ErrorContent): string =>
  `<html>\n<head><title>${status}</title></head>\n<body><h1>${status}</h1><p>${escaped(message)}</p></body>\n</html>\n`;

const SHAPES_OF_ERRORS: Readonly<Record<Exclude<Shape['errors'], 'code'>, ErrorShape>> = {
  problem: problem('-'),
  problem_underscored: problem('_'),
  message: { contentType: JSON_TYPE, schema: objectSchema({ message: text }), body: ({ message }) => ({ message }) },
  fields: {
    contentType: JSON_TYPE,
    schema: objectSchema({ errors: listsByField }),
    // A refusal without a field is under `base`.
    body: ({ message, fields }) => ({ errors: listed(fields ?? { base: message }) }),
  },
  html: { contentType: 'text/html', schema: text, body: html },
  empty: { contentType: undefined, schema: text, body: () => '' },
};

/** @returns undefined for the error body of the contract. */
export function errorShape(errors: Shape['errors']): Pick<ErrorShape, 'contentType' | 'schema'> | undefined {
  return errors === 'code' ? undefined : SHAPES_OF_ERRORS[errors];
}

/**
 * Changes a refusal to the error body of a shape, with the same status. @param answer with the contract's error body.
 */
export function shapedError(errors: Shape['errors'], answer: Answer): Answer {
  if (errors === 'code') return answer;
  const { error } = serviceErrorBody.parse(jsonFrom(answer.body));
  const { contentType, body } = SHAPES_OF_ERRORS[errors];
  const written = body({ status: answer.status, code: error.code, message: error.message, fields: error.fields });
  const { 'Content-Type': _type, ...headers } = answer.headers ?? {};
  return {
    ...answer,
    body: typeof written === 'string' ? written : JSON.stringify(written),
    headers: contentType === undefined ? headers : { 'Content-Type': contentType, ...headers },
  };
}

function escaped(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
