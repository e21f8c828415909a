/** Finds variables whose names are probably misspelled ones of ours. */
import type { ConfigurationProblem } from '#config/configuration-error.ts';
import { changedLetters } from '#domain/text.ts';

/**
 * Variables that are probably misspelled. An environment also contains variables of other programs, so a name counts
 * only if it is one or two letters away from one of ours that is not set, and begins with the same word: `API_PROT`
 * and not `APP_PORT`. If another program needs such a variable, set ours, too.
 *
 * @param known our names.
 * @param environment without empty variables.
 */
export function misspelled(
  known: readonly string[],
  environment: Readonly<Record<string, string>>,
): ConfigurationProblem[] {
  const unset = known.filter((name) => environment[name] === undefined);
  const all = new Set(known);
  return Object.keys(environment).flatMap((name) => {
    const meant = all.has(name) ? undefined : nearestName(name, unset);
    return meant === undefined ? [] : [{ name, message: `is not a variable of this program; did you mean ${meant}?` }];
  });
}

/** The known name with the fewest changed letters, if there are at most two. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const [word = ''] = name.split('_', 1);
  return known
    .filter((candidate) => candidate.startsWith(`${word}_`) && name.length > word.length)
    .map((candidate) => ({ candidate, changes: slips(name.slice(word.length), candidate.slice(word.length)) }))
    .filter(({ candidate, changes }) => changes <= (candidate.length - word.length > 6 ? 2 : 1))
    .toSorted((left, right) => left.changes - right.changes)[0]?.candidate;
}

/** Changed letters; two neighbours in the wrong order count as one. */
function slips(left: string, right: string): number {
  const changes = changedLetters(left, right);
  return changes === 2 && left.length === right.length && swaps(left, right) ? 1 : changes;
}

function swaps(left: string, right: string): boolean {
  const at = left.split('').findIndex((letter, index) => letter !== right[index]);
  return left[at] === right[at + 1] && left[at + 1] === right[at] && left.slice(at + 2) === right.slice(at + 2);
}
