/** The parsed value, or why the bytes were refused. */
export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: 'not_utf8' | 'not_json' | 'duplicate_key' | 'too_deep' };

/**
 * Parses JSON from bytes, strictly. Invalid UTF-8 is refused, not replaced. An object that names a key twice is
 * refused, because two parsers may take different values (RFC 8259, section 4). `__proto__` is an ordinary key. A value
 * nested deeper than {@link MAX_JSON_DEPTH} is refused, because recursive readers would overflow the stack.
 */
export function readJson(bytes: Uint8Array): JsonResult {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { ok: false, reason: 'not_utf8' };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'not_json' };
  }
  const problem = problemOf(text);
  return problem === undefined ? { ok: true, value } : { ok: false, reason: problem };
}

// The tokens that this check needs: strings, brackets and commas. Numbers, literals, colons and spaces are skipped.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** More levels than any answer, event or document has. */
const MAX_JSON_DEPTH = 200;

/** @param text valid JSON. */
function problemOf(text: string): 'duplicate_key' | 'too_deep' | undefined {
  // One entry per open bracket: the keys of the object so far, or undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let keyComesNext = false;
  for (const [token] of text.matchAll(TOKEN)) {
    switch (token) {
      case '{':
        open.push(new Set());
        if (open.length > MAX_JSON_DEPTH) return 'too_deep';
        keyComesNext = true;
        break;
      case '[':
        open.push(undefined);
        if (open.length > MAX_JSON_DEPTH) return 'too_deep';
        keyComesNext = false;
        break;
      case '}':
      case ']':
        open.pop();
        keyComesNext = false;
        break;
      case ',':
        keyComesNext = open.at(-1) !== undefined;
        break;
      default: {
        const keys = open.at(-1);
        if (!keyComesNext || keys === undefined) break;
        // The same key may be spelled with and without escapes.
        const key = String(JSON.parse(token));
        if (keys.has(key)) return 'duplicate_key';
        keys.add(key);
        keyComesNext = false;
      }
    }
  }
  return undefined;
}
