/**
 * One preference (RFC 7240): a name, perhaps with a value, plain or quoted; parameters after it are read over. No two
 * parts of it can take the same characters in many ways, or a header made to would be read for hours.
 */
const PREFERENCE =
  /\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*)))?\s*((?:;(?:[^";,]|"(?:[^"\\]|\\.)*")*)*)(?:,|$)/y;
/** Longer than any that is meant; what is longer is not understood. */
const MAX_LENGTH = 1_000;
/** A caller has a few preferences; a header of thousands is not read to its end. */
const MAX_PREFERENCES = 20;

/**
 * How long a caller would wait for the result, as the header `Prefer` says.
 *
 * @returns seconds; undefined where it does not say so, or not readably: a preference that is not understood is
 *   ignored.
 */
export function preferredWait(header: string | undefined): number | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  PREFERENCE.lastIndex = 0;
  for (let count = 0; count < MAX_PREFERENCES && PREFERENCE.lastIndex < header.length; count += 1) {
    const found = PREFERENCE.exec(header);
    if (found === null) return undefined;
    const [, name = '', quoted, plain = ''] = found;
    // The first of several counts.
    if (name.toLowerCase() === 'wait') return seconds(quoted ?? plain);
  }
  return undefined;
}

function seconds(text: string): number | undefined {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}
