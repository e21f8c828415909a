import type { Environment } from '#config/environment.ts';
import { ConfigurationError } from '#config/fields.ts';

type Readers = Readonly<Record<string, (environment: Environment) => unknown>>;

/**
 * Reads several parts of the configuration for one command.
 *
 * @throws ConfigurationError with the problems of all parts at once.
 */
export function readTogether<Parts extends Readers>(
  environment: Environment,
  readers: Parts,
): { readonly [Name in keyof Parts]: ReturnType<Parts[Name]> } {
  const problems = new Set<string>();
  const parts = Object.entries(readers).map(([name, read]) => {
    try {
      return [name, read(environment)] as const;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      for (const problem of error.problems) problems.add(problem);
      return [name, undefined] as const;
    }
  });
  if (problems.size > 0) throw new ConfigurationError([...problems]);
  return Object.fromEntries(parts) as { [Name in keyof Parts]: ReturnType<Parts[Name]> };
}
