/** `<NAME>_FILE` names a file with the value of `<NAME>`, as containers mount secrets. */
import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import type { ConfigurationProblem } from '#config/configuration-error.ts';

const secrets = new WeakSet<z.ZodType>();

/** It may be in a file, and no command prints it. */
export function secret<Field extends z.ZodType>(field: Field): Field {
  secrets.add(field);
  return field;
}

export function isSecret(field: z.ZodType): boolean {
  return secrets.has(field);
}

export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/** Bytes. A larger file is probably another one. */
const MAX_BYTES = 65_536;

/** One line break at the end does not belong to the secret. Returns also what could not be read. */
export function readSecretFiles(
  names: readonly string[],
  environment: Readonly<Record<string, string>>,
): { readonly values: Record<string, string>; readonly problems: readonly ConfigurationProblem[] } {
  const values = { ...environment };
  const problems: ConfigurationProblem[] = [];
  for (const name of names) {
    const variable = fileVariable(name);
    const path = environment[variable];
    if (path === undefined) continue;
    delete values[variable];
    if (environment[name] === undefined) {
      const read = readSecret(path);
      if ('secret' in read) values[name] = read.secret;
      else problems.push({ name: variable, message: `the file ${path} ${read.problem}` });
    } else {
      problems.push({
        name: variable,
        message: `${name} is set too: use one of them, so that it is clear which counts`,
      });
    }
  }
  return { values, problems };
}

function readSecret(path: string): { readonly secret: string } | { readonly problem: string } {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length > MAX_BYTES) return { problem: 'is too long for a secret' };
    const secret = text.replace(/\r?\n$/, '');
    return secret === '' ? { problem: 'is empty' } : { secret };
  } catch (error) {
    return { problem: unreadableText(error) };
  }
}

export function unreadableText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this process';
  if (code === 'EISDIR') return 'is a folder';
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
