/** What was read, or why it could not be. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: 'not_utf8' | 'not_json' | 'duplicate_key' };

/**
 * Reads JSON from bytes, strictly: invalid UTF-8 is not replaced, and an object that names a key twice is refused,
 * since two readers may take either value (RFC 8259, section 4). `__proto__` is a key like any other.
 */
export function readJson(bytes: Uint8Array): JsonReading {
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
  return hasDuplicateKey(text) ? { ok: false, reason: 'duplicate_key' } : { ok: true, value };
}

// The tokens of valid JSON that matter here: strings, brackets and commas; numbers, words, colons and spaces do not.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** @param text valid JSON. */
function hasDuplicateKey(text: string): boolean {
  // One entry per open bracket: the keys of an object so far, or undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let keyComesNext = false;
  for (const [token] of text.matchAll(TOKEN)) {
    switch (token) {
      case '{':
        open.push(new Set());
        keyComesNext = true;
        break;
      case '[':
        open.push(undefined);
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
        if (keys.has(key)) return true;
        keys.add(key);
        keyComesNext = false;
      }
    }
  }
  return false;
}
