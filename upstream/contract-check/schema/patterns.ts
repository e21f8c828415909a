/** Patterns of a document that others wrote: one may be no regular expression, or one that never ends. */
import { createContext, Script } from 'node:vm';

const MAX_PATTERN = 2_000;
// A text of a few hundred characters takes microseconds; a pattern that tries all ways to split it takes years.
const MAX_MS = 200;

const TEST = new Script('new RegExp(pattern, flags).test(text)');
const context = createContext({});

// A pattern stands at many fields of a document, and a limit of time costs more than the match itself.
const MAX_KNOWN = 10_000;
const known = new Map<string, boolean | undefined>();

/**
 * Tells whether a text matches a pattern of JSON Schema.
 *
 * @returns undefined when that cannot be told: the pattern is no regular expression, too long or takes too much time.
 */
export function matches(pattern: string, text: string): boolean | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  const key = JSON.stringify([pattern, text]);
  if (known.has(key)) return known.get(key);
  if (known.size >= MAX_KNOWN) known.clear();
  const result = tested(pattern, text);
  known.set(key, result);
  return result;
}

function tested(pattern: string, text: string): boolean | undefined {
  for (const flags of ['u', '']) {
    try {
      Object.assign(context, { pattern, flags, text });
      return TEST.runInContext(context, { timeout: MAX_MS }) === true;
    } catch (error) {
      if (isTimeout(error)) return undefined;
      // Many patterns are written for engines that know no flag u, and escape what it does not let escape.
    }
  }
  return undefined;
}

function isTimeout(error: unknown): boolean {
  // Not an `Error` of ours: it is made in the other context.
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
