export const OPEN_SET = 'x-extensible-enum';
/** Keeps the set closed in answers, because it selects one of several schemas. */
export const SELECTS_SCHEMA = 'x-selects-schema';

/**
 * A later version may add values to an answer, and generated clients refuse a value that is not in an `enum`. Sets in
 * requests stay closed.
 */
export function openSet(schema: {
  enum?: unknown[] | undefined;
  type?: unknown;
  description?: string | undefined;
  [extension: `x-${string}`]: unknown;
}): void {
  const isClosed = schema[SELECTS_SCHEMA] === true;
  delete schema[SELECTS_SCHEMA];
  const { enum: values, description } = schema;
  if (isClosed || values === undefined || !values.every((value) => typeof value === 'string')) return;
  delete schema.enum;
  schema.type = 'string';
  schema[OPEN_SET] = values;
  const isExplained = values.every((value) => description?.includes(`\`${value}\``));
  const known = isExplained ? 'A later version may add values.' : `${listed(values)}. A later version may add values.`;
  schema.description = description === undefined ? known : `${description} ${known}`;
}

function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `\`${value}\``);
  return quoted.length === 1 ? `Known: ${quoted[0]}` : `One of ${quoted.join(', ')}`;
}
