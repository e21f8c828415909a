import type * as z from 'zod';
import { ConfigurationError } from '#config/fields.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Parses environment variables; an empty one counts as missing.
 *
 * @throws ConfigurationError with every problem.
 */
export function parseEnvironment<Schema extends z.ZodType>(schema: Schema, environment: Environment): z.output<Schema> {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  throw new ConfigurationError(
    result.error.issues.map((issue) => {
      const name = String(issue.path[0] ?? '');
      return present[name] === undefined ? `${name} is missing` : `${name}: ${issue.message}`;
    }),
  );
}
