import { isIdentifier } from '#upstream/contract/variants.ts';

type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: 'not_utf8' | 'not_json' | 'duplicate_key' | 'too_deep' };

/**
 * Strict. Invalid UTF-8 is refused. So is a key named twice, because two parsers may take different values (RFC 8259,
 * section 4), and nesting beyond {@link MAX_JSON_DEPTH}, which would overflow the stack of recursive readers.
 */
export function readJson(bytes: Uint8Array): JsonResult {
  let text: string;
  try {
    text = textOf(bytes);
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

/** Reads an identifier that is a whole number beyond 53 bits as text: `JSON.parse` would round it to another one. */
export function readServiceJson(bytes: Uint8Array): JsonResult {
  const json = readJson(bytes);
  if (!json.ok || !hasLongNumber(bytes)) return json;
  const read = (key: string, value: unknown, { source = '' }: { readonly source?: string }) =>
    isRounded(value) && isIdentifier(key) && WHOLE.test(source) ? source : value;
  // A cast: the types of the language do not have the third parameter of a reviver yet.
  return { ok: true, value: JSON.parse(textOf(bytes), read as Parameters<typeof JSON.parse>[1]) as unknown };
}

const WHOLE = /^\d{1,40}$/;

function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** A reviver makes the reading of a list several times slower. */
function hasLongNumber(bytes: Uint8Array): boolean {
  return /[^"\d]\d{16}/.test(textOf(bytes));
}

function isRounded(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** More levels than any answer, event or document has. */
const MAX_JSON_DEPTH = 200;

function problemOf(text: string): 'duplicate_key' | 'too_deep' | undefined {
  // One entry per open bracket; undefined for an array.
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
