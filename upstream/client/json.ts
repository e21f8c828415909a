/** What was read, or why it could not be. */
export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: 'not_utf8' | 'not_json' | 'duplicate_key' | 'too_deep' };

/**
 * Reads JSON from bytes, strictly: invalid UTF-8 is not replaced, and an object that names a key twice is refused,
 * since two readers may take either value (RFC 8259, section 4). `__proto__` is a key like any other. What is nested
 * deeper than {@link MAX_JSON_DEPTH} is refused: readers that call themselves for each level would fail.
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

// The tokens of valid JSON that matter here: strings, brackets and commas; numbers, words, colons and spaces do not.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** Far more levels than any answer, event or document has. */
const MAX_JSON_DEPTH = 200;

/** @param text valid JSON. */
function problemOf(text: string): 'duplicate_key' | 'too_deep' | undefined {
  // One entry per open bracket: the keys of an object so far, or undefined for an array.
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
