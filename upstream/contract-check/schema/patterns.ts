/** Matches patterns of foreign documents. Such a pattern may be no regular expression, or may never end. */
import { createContext, Script } from 'node:vm';

const MAX_PATTERN = 2_000;
// Matching a few hundred characters takes microseconds; a pattern with exponential backtracking takes years. A process
// on a busy machine may wait for a core much longer than a match takes.
const MAX_MS = 5_000;

const TEST = new Script('new RegExp(pattern, flags).test(text)');
const context = createContext({});

// Results are kept: patterns repeat in a document, and a time limit costs more than the match itself.
const MAX_KNOWN = 10_000;
const known = new Map<string, boolean | undefined>();
/** Patterns that took too much time: each further text would take as long. */
const endless = new Set<string>();

/**
 * Tests whether a text matches a pattern of JSON Schema.
 *
 * @returns undefined when that is unknown: the pattern is no regular expression, is too long or takes too much time.
 */
export function matches(pattern: string, text: string): boolean | undefined {
  if (pattern.length > MAX_PATTERN || endless.has(pattern)) return undefined;
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
      if (isTimeout(error)) {
        endless.add(pattern);
        return undefined;
      }
      // Tried again without the flag `u`: many patterns escape characters that the flag does not allow to be escaped.
    }
  }
  return undefined;
}

function isTimeout(error: unknown): boolean {
  // Not an instance of our `Error`: it was made in the other context.
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
