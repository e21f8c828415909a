export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Of a URL, without the brackets of an IPv6 address. */
export function hostOf({ hostname }: { readonly hostname: string }): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** PostgreSQL stores no NUL and no lone surrogates. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

/** Nearest first. @param candidates names without a counterpart on our side. */
export function nearNames(name: string, candidates: Iterable<string>): string[] {
  const scored = [...candidates].map((candidate) => ({ candidate, score: likeness(name, candidate) }));
  return scored
    .filter(({ score }) => score >= ALIKE)
    .toSorted((left, right) => right.score - left.score || left.candidate.localeCompare(right.candidate))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

const ALIKE = 0.5;
const MAX_SUGGESTIONS = 2;

/** From 0 to 1: shared words, shared letters (`iccid`, `ICC_ID`), or the same end (`id`, `package_id`). */
function likeness(left: string, right: string): number {
  const [one, other] = [plain(left), plain(right)];
  const end = one !== '' && other !== '' && (one.endsWith(other) || other.endsWith(one)) ? ALIKE : 0;
  return Math.max(commonWords(wordsOf(left), wordsOf(right)), commonLetters(one, other), end);
}

function wordsOf(name: string): Set<string> {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  // Short words such as "id" and "at" occur in most names and distinguish nothing.
  return new Set(words.filter((word) => word.length > 2));
}

function commonWords(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const common = [...left].filter((word) => right.has(word)).length;
  return common === 0 ? 0 : common / Math.min(Math.max(left.size, right.size), 2);
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 100);
}

function commonLetters(left: string, right: string): number {
  if (left === '' || right === '') return 0;
  return 1 - changedLetters(left, right) / Math.max(left.length, right.length);
}

export function changedLetters(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_cell, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(changed, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
