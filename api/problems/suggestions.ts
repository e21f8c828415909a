/**
 * A wrong suggestion costs the caller more time than none, so these rules are stricter than those of `#domain/text.ts`.
 */
import { changedLetters } from '#domain/text.ts';

const SYNONYMS: Readonly<Record<string, string>> = {
  page: 'cursor',
  offset: 'cursor',
  skip: 'cursor',
  starting_after: 'cursor',
  page_size: 'limit',
  per_page: 'limit',
  size: 'limit',
  count: 'limit',
  from: 'created_after',
  since: 'created_after',
  start_date: 'created_after',
  until: 'created_before',
  to: 'created_before',
  end_date: 'created_before',
};

const OPPOSITES: readonly (readonly [string, string])[] = [
  ['min', 'max'],
  ['minimum', 'maximum'],
  ['before', 'after'],
  ['first', 'last'],
  ['from', 'to'],
  ['start', 'end'],
];

/** With more that are equally near, none is suggested. */
const MAX_SUGGESTIONS = 3;
const MAX_LENGTH = 100;

/** Best first; usually none or one. */
export function suggestedNames(name: string, known: readonly string[]): string[] {
  const synonym = SYNONYMS[name.toLowerCase()];
  if (synonym !== undefined && known.includes(synonym)) return [synonym];
  return best(known, (candidate) => differenceOfNames(name, candidate));
}

/** @param path with `{id}` for ids. @param known with `{name}` for parameters. */
export function suggestedPaths(path: string, known: readonly string[]): string[] {
  const given = segmentsOf(path);
  return best([...new Set(known)], (candidate) => differenceOfPaths(given, segmentsOf(candidate)));
}

export function didYouMean(suggestions: readonly string[]): string | undefined {
  const names = suggestions.map((each) => `\`${each}\``);
  const last = names.pop();
  if (last === undefined) return;
  return `did you mean ${names.length === 0 ? last : `${names.join(', ')} or ${last}`}?`;
}

/** @param differenceOf undefined: the candidate is not meant. */
function best(candidates: readonly string[], differenceOf: (candidate: string) => number | undefined): string[] {
  const scored = candidates.flatMap((candidate) => {
    const difference = differenceOf(candidate);
    return difference === undefined ? [] : [{ candidate, difference }];
  });
  const least = Math.min(...scored.map(({ difference }) => difference));
  const nearest = scored.filter(({ difference }) => difference === least).map(({ candidate }) => candidate);
  return nearest.length > MAX_SUGGESTIONS ? [] : nearest;
}

function differenceOfNames(name: string, candidate: string): number | undefined {
  const [given, other] = [wordsOf(name), wordsOf(candidate)];
  const contradict = (one: string, two: string) => given.includes(one) && other.includes(two);
  if (OPPOSITES.some(([one, two]) => contradict(one, two) || contradict(two, one))) return;
  if (given.join('') === other.join('')) return 0;
  const changes = differenceOfWords(given.join(''), other.join(''));
  if (changes !== undefined) return changes;
  return share(given, other) >= 0.5 || share(other, given) >= 0.5 ? MAX_LENGTH : undefined;
}

/** 0 unless `all` has each word of `part`. */
function share(part: readonly string[], all: readonly string[]): number {
  const isPart = part.some((word) => word.length > 2) && part.every((word) => all.includes(word));
  return isPart ? part.length / all.length : 0;
}

function wordsOf(name: string): string[] {
  const words = name
    .slice(0, MAX_LENGTH)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter(Boolean);
}

/** Undefined when there are too many for a slip or a plural. */
function differenceOfWords(given: string, other: string): number | undefined {
  if (`${given}s` === other || `${other}s` === given || `${other}es` === given || `${given}es` === other) return 1;
  const changes = changedLetters(given, other);
  return changes <= Math.floor(Math.max(given.length, other.length) / 5) ? changes : undefined;
}

/** Without the version, a leading `api` and a trailing slash. */
function segmentsOf(path: string): string[] {
  const segments = path.slice(0, MAX_LENGTH).split('/').filter(Boolean);
  if (segments[0]?.toLowerCase() === 'api') segments.shift();
  return /^v\d+$/i.test(segments[0] ?? '') ? segments.slice(1) : segments;
}

function differenceOfPaths(given: readonly string[], other: readonly string[]): number | undefined {
  if (given.length === 0) return;
  if (given.length + 1 === other.length && other.slice(1).join('/') === given.join('/')) return MAX_LENGTH;
  if (given.length !== other.length) return;
  let sum = 0;
  for (const [index, segment] of given.entries()) {
    const difference = differenceOfSegments(segment, other[index] ?? '');
    if (difference === undefined) return;
    sum += difference;
  }
  return sum;
}

function differenceOfSegments(given: string, other: string): number | undefined {
  if (given === other) return 0;
  if (other.startsWith('{') || given.startsWith('{')) return;
  if (other.startsWith(`${given}.`)) return 1;
  return differenceOfWords(given.toLowerCase(), other);
}
