/**
 * One preference (RFC 7240): a name with an optional value, plain or quoted; parameters are ignored. No two
 * parts of the pattern match the same characters, so that no header causes catastrophic backtracking.
 */
const PREFERENCE =
  /\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?\s*((?:;(?:[^";,]|"(?:[^"\\]|\\.)*")*)*)(?:,|$)/y;
/** Longer headers are ignored. */
const MAX_LENGTH = 1_000;
/** Maximum number of preferences that are read. */
const MAX_PREFERENCES = 20;

/**
 * The wait that a caller requests with the header `Prefer`.
 *
 * @returns seconds; undefined without a readable `wait`: RFC 7240 requires that unknown preferences are
 *   ignored.
 */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  PREFERENCE.lastIndex = 0;
  for (let count = 0; count < MAX_PREFERENCES && PREFERENCE.lastIndex < header.length; count += 1) {
    const found = PREFERENCE.exec(header);
    if (found === null) return undefined;
    const [, name = '', quoted, plain = ''] = found;
    // The first of several is used.
    if (name.toLowerCase() === 'wait') return seconds(quoted ?? plain);
  }
  return undefined;
}

function seconds(text: string): number | undefined {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}
