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

function pack(state: State): string {
  write(state, bytes, codeOf);
  return bytes.toString('latin1');
}

/** Writes a packed state into a state. */
function unpack(packed: string, into: State): void {
  read(into, packed, words);
}

/** All visited states, each with the state before it on a shortest way. */
export class Store {
  readonly #places = new Map<string, number>();
  readonly #packed: string[] = [];
  readonly #parents: number[] = [];
  readonly #depths: number[] = [];

  get count(): number {
    return this.#packed.length;
  }

  /** The length of the shortest way to the last state. */
  get depth(): number {
    return this.#depths.at(-1) ?? 0;
  }

  read(index: number, into: State): void {
    unpack(this.#packed[index] ?? '', into);
  }

  /** The states on a shortest way to a state, with the first one. */
  wayTo(index: number): number[] {
    const way: number[] = [];
    for (let at = index; at >= 0; at = this.#parents[at] ?? -1) way.unshift(at);
    return way;
  }

  find(state: State): number | undefined {
    return this.#places.get(pack(state));
  }

  /** @returns the index of the new or known state. */
  add(state: State, parent: number): number {
    const packed = pack(state);
    const known = this.#places.get(packed);
    if (known !== undefined) return known;
    const index = this.count;
    this.#places.set(packed, index);
    this.#packed.push(packed);
    this.#parents.push(parent);
    this.#depths.push((this.#depths[parent] ?? -1) + 1);
    return index;
  }
}
