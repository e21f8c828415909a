import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { resolve } from 'node:path';
import type * as z from 'zod';
import { ConfigurationError, type ConfigurationProblem, plainError } from '#config/configuration-error.ts';
import { fileVariable, isSecret, readSecretFiles } from '#config/secret-files.ts';
import { SECRET_NAMES, VARIABLE_NAMES } from '#config/variables.ts';
import { changedLetters } from '#domain/text.ts';

/**
 * Milliseconds for one address of a name with several. Node gives 250: a host with a slower handshake would never be
 * reached. Two addresses fit into the time limits of the service (8 s) and of event webhooks (15 s).
 */
export const ADDRESS_ATTEMPT_MS = 2_500;
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);

// `pg` would also obey these variables of libpq: with PGSSLMODE=require, the embedded server could not be reached.
for (const name of Object.keys(process.env)) if (/^PG[A-Z_]+$/.test(name)) delete process.env[name];

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * An empty variable counts as missing; `<NAME>_FILE` may name a file. @throws ConfigurationError with every problem.
 */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Environment = process.env,
): z.output<z.ZodObject<Shape>> {
  const names = Object.keys(schema.shape);
  const secrets = names.filter((name) => isSecret(schema.shape[name] as z.ZodType));
  const present = presentOf(environment);
  const { values, problems: ofFiles } = readSecretFiles(secrets, present);
  const unreadable = new Set(ofFiles.map(({ name }) => name));
  const result = schema.safeParse(values, { error: plainError });
  const problems: ConfigurationProblem[] = [
    ...ofFiles,
    ...misspelled([...names, ...secrets.map(fileVariable)], present).filter(({ name }) => !VARIABLE_NAMES.has(name)),
    ...(result.error?.issues ?? []).map(({ path, message }) => {
      const name = String(path[0] ?? '');
      return { name, message: values[name] === undefined ? 'is missing' : message };
    }),
  ].filter(({ name }) => !unreadable.has(fileVariable(name)));
  if (result.success && problems.length === 0) return result.data;
  throw new ConfigurationError(problems);
}

/** Other programs read these, too, and prefer the lower case. */
const IN_LOWER_CASE = new Set(['https_proxy', 'http_proxy', 'no_proxy']);

export function presentOf(environment: Environment): Record<string, string> {
  const present = Object.entries(environment).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const lower = present.filter(([name]) => IN_LOWER_CASE.has(name));
  return Object.fromEntries([...present, ...lower.map(([name, value]) => [name.toUpperCase(), value] as const)]);
}

/** Secrets instead of the names of their files. @throws ConfigurationError when a file cannot be read. */
export function withoutFiles(environment: Environment): Record<string, string> {
  const { values, problems } = readSecretFiles(SECRET_NAMES, presentOf(environment));
  if (problems.length > 0) throw new ConfigurationError(problems);
  const { POLICY_FILE: policy } = values;
  return { ...values, ...(policy !== undefined && { POLICY_FILE: resolve(policy) }) };
}

/** @throws ConfigurationError with the problems of all parts at once. */
export function readTogether<Parts extends Readonly<Record<string, (environment: Environment) => unknown>>>(
  environment: Environment,
  readers: Parts,
): { readonly [Name in keyof Parts]: ReturnType<Parts[Name]> } {
  const problems: ConfigurationProblem[] = [];
  const parts = Object.entries(readers).map(([name, read]) => {
    try {
      return [name, read(environment)] as const;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
      return [name, undefined] as const;
    }
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.fromEntries(parts) as { [Name in keyof Parts]: ReturnType<Parts[Name]> };
}

/** The environment also has variables of other programs: a name counts if it is near an unset one of ours. */
export function misspelled(known: readonly string[], environment: Record<string, string>): ConfigurationProblem[] {
  const unset = known.filter((name) => environment[name] === undefined);
  const all = new Set(known);
  return Object.keys(environment).flatMap((name) => {
    const meant = all.has(name) ? undefined : nearestName(name, unset);
    return meant === undefined ? [] : [{ name, message: `is not a variable of this program; did you mean ${meant}?` }];
  });
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const [word = ''] = name.split('_', 1);
  return known
    .filter((candidate) => candidate.startsWith(`${word}_`) && name.length > word.length)
    .map((candidate) => ({ candidate, changes: slips(name.slice(word.length), candidate.slice(word.length)) }))
    .filter(({ candidate, changes }) => changes <= (candidate.length - word.length > 6 ? 2 : 1))
    .toSorted((left, right) => left.changes - right.changes)[0]?.candidate;
}

/** Two neighbours in the wrong order count as one changed letter. */
function slips(left: string, right: string): number {
  const changes = changedLetters(left, right);
  return changes === 2 && left.length === right.length && swaps(left, right) ? 1 : changes;
}

function swaps(left: string, right: string): boolean {
  const at = left.split('').findIndex((letter, index) => letter !== right[index]);
  return left[at] === right[at + 1] && left[at + 1] === right[at] && left.slice(at + 2) === right.slice(at + 2);
}
