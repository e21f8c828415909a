/** States as texts of one character for each field: compact to keep, exact to compare. */
import { compileFunction } from 'node:vm';
import { emptyState, type State } from '#test/model-check/state.ts';

/** Every word that was packed so far. Its place is its code. */
const words: string[] = [];
const codes = new Map<string, number>();

function codeOf(word: string): number {
  const code = codes.get(word);
  if (code !== undefined) return code;
  codes.set(word, words.length);
  return words.push(word) - 1;
}

/** The fields of a state in one fixed order, as expressions with their types. */
function fieldsOf(part: object, path: string): { readonly field: string; readonly type: string }[] {
  return Object.entries(part).flatMap(([key, value]: [string, unknown]) => {
    const field = `${path}[${JSON.stringify(key)}]`;
    return typeof value === 'object' && value !== null ? fieldsOf(value, field) : [{ field, type: typeof value }];
  });
}

const NO_FAULTS = { faults: 0, setBacks: 0, emptied: 0, sends: 0, refusals: 0, operator: 0, failures: 0 };
const fields = fieldsOf(emptyState(NO_FAULTS), 'state');

/** Compiles a statement for each field: a search packs millions of states, and a loop over names takes longer. */
function compiled(statement: (field: string, type: string, at: number) => string, parameters: string[]): unknown {
  return compileFunction(fields.map(({ field, type }, at) => statement(field, type, at)).join('\n'), parameters);
}

const write = compiled(
  (field, type, at) => `bytes[${at}] = ${type === 'string' ? `codeOf(${field})` : `+${field}`};`,
  ['state', 'bytes', 'codeOf'],
) as (state: State, bytes: Uint8Array, code: typeof codeOf) => void;
const read = compiled(
  (field, type, at) => {
    const code = `text.charCodeAt(${at})`;
    return `${field} = ${type === 'string' ? `words[${code}]` : type === 'boolean' ? `${code} === 1` : code};`;
  },
  ['state', 'text', 'words'],
) as (state: State, text: string, of: typeof words) => void;

const bytes = Buffer.alloc(fields.length);

export function pack(state: State): string {
  write(state, bytes, codeOf);
  return bytes.toString('latin1');
}

/** Writes a packed state into a state. */
export function unpack(packed: string, into: State): void {
  read(into, packed, words);
}

/** Makes `to` equal to `from`. */
export function copy<Part extends object>(from: Part, to: Part): void {
  for (const [key, value] of Object.entries(from) as [keyof Part, Part[keyof Part]][]) {
    const target = to[key];
    if (typeof value === 'object' && value !== null) copy<object>(value, target as object);
    else to[key] = value;
  }
}
