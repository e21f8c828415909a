import { Problem } from '#api/problems/problem.ts';
import { readJson } from '#upstream/client/json.ts';

/** Far above our deepest request, which has two levels. */
const MAX_DEPTH = 32;
/** Of one object. Our largest request has 30, and metadata 20. */
export const MAX_NAMES = 200;
/** Of a body. A batch of 1,000 items, each with all of its fields, has 30,000. */
export const MAX_VALUES = 50_000;

const UNREADABLE = {
  not_utf8: 'The body is not valid UTF-8.',
  not_json: 'The body is not valid JSON. Names and strings have double quotes, and no comma follows the last field.',
  duplicate_key: 'The body contains a field twice, so its meaning is ambiguous. Send it once.',
  too_deep: 'The body is nested too deeply.',
} as const;

/**
 * Reads a request body as JSON.
 *
 * @param contentType as sent; a charset parameter is allowed, JSON is UTF-8 in any case.
 * @throws Problem unsupported_media_type, malformed_json
 */
export function readJsonBody(bytes: Buffer, contentType: string | undefined): unknown {
  if (bytes.length === 0) throw new Problem('malformed_json', { detail: 'The body is empty. Send a JSON object.' });
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? '')) {
    const found = contentType === undefined ? 'no Content-Type' : 'a Content-Type other than JSON';
    const detail = `The body has ${found}. Send \`Content-Type: application/json\`.`;
    throw new Problem('unsupported_media_type', { detail });
  }
  const json = readJson(bytes);
  if (!json.ok) throw new Problem('malformed_json', { detail: UNREADABLE[json.reason] });
  requireHarmless(json.value);
  return json.value;
}

/**
 * The same text for the same content, independent of field order and white space. Used to compare requests.
 *
 * @param value JSON of bounded depth, from {@link readJsonBody}.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  });
}

/**
 * Limits come before the checks of fields, which make something for each name and value. Walks without recursion, level
 * by level.
 */
function requireHarmless(root: unknown): void {
  let level: unknown[] = [root];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new Problem('malformed_json', { detail: `The body is nested more than ${MAX_DEPTH} deep.` });
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      // Schemas ignore this name instead of refusing it.
      if (Object.hasOwn(value, '__proto__'))
        throw new Problem('malformed_json', { detail: 'The body has a field __proto__.' });
      const inner: unknown[] = Object.values(value);
      if (!Array.isArray(value) && inner.length > MAX_NAMES)
        throw new Problem('malformed_json', { detail: `An object of the body has more than ${MAX_NAMES} names.` });
      values += inner.length;
      if (values > MAX_VALUES)
        throw new Problem('malformed_json', {
          detail: `The body has more than ${MAX_VALUES.toLocaleString('en')} values. Send several smaller requests.`,
        });
      for (const each of inner) next.push(each);
    }
    level = next;
  }
}
