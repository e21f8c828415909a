import { pack, unpack } from '#test/model-check/codec.ts';
import type { State } from '#test/model-check/state.ts';

const CHUNK = 1 << 14;

/** All visited states as bytes, in an open hash table. */
export class Store {
  readonly #size: number;
  readonly #like: State;
  readonly #chunks: Uint8Array[] = [];
  readonly #packed: Uint8Array;
  #parents = new Int32Array(CHUNK);
  #depths = new Uint16Array(CHUNK);
  #table = new Int32Array(1 << 16).fill(-1);
  count = 0;
  depth = 0;

  constructor(size: number, like: State) {
    this.#size = size;
    this.#like = like;
    this.#packed = new Uint8Array(size);
  }

  blank(): State {
    return structuredClone(this.#like);
  }

  read(index: number, into: State): void {
    unpack(this.#chunk(index), (index % CHUNK) * this.#size, into);
  }

  parent(index: number): number {
    return this.#parents[index] ?? -1;
  }

  find(state: State): number {
    pack(state, this.#packed, 0);
    return this.#table[this.#slot()] ?? -1;
  }

  /** @returns the index of the new or known state. */
  add(state: State, parent: number): number {
    pack(state, this.#packed, 0);
    const slot = this.#slot();
    const known = this.#table[slot] ?? -1;
    if (known >= 0) return known;
    const index = this.count;
    this.count += 1;
    if (index % CHUNK === 0) this.#grow();
    this.#chunk(index).set(this.#packed, (index % CHUNK) * this.#size);
    this.#parents[index] = parent;
    this.#depths[index] = parent < 0 ? 0 : (this.#depths[parent] ?? 0) + 1;
    this.depth = Math.max(this.depth, this.#depths[index]);
    this.#table[slot] = index;
    if (this.count * 2 > this.#table.length) this.#rehash();
    return index;
  }

  #chunk(index: number): Uint8Array {
    const chunk = this.#chunks[Math.floor(index / CHUNK)];
    if (chunk === undefined) throw new RangeError(`there is no state ${index}`);
    return chunk;
  }

  #grow(): void {
    this.#chunks.push(new Uint8Array(CHUNK * this.#size));
    if (this.count <= this.#parents.length) return;
    const parents = new Int32Array(this.#parents.length * 2);
    parents.set(this.#parents);
    const depths = new Uint16Array(parents.length);
    depths.set(this.#depths);
    this.#parents = parents;
    this.#depths = depths;
  }

  #slot(): number {
    const mask = this.#table.length - 1;
    let slot = hash(this.#packed, 0, this.#size) & mask;
    for (;;) {
      const index = this.#table[slot] ?? -1;
      if (index < 0 || this.#isPacked(index)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isPacked(index: number): boolean {
    const chunk = this.#chunk(index);
    const from = (index % CHUNK) * this.#size;
    for (let at = 0; at < this.#size; at += 1) if (chunk[from + at] !== this.#packed[at]) return false;
    return true;
  }

  #rehash(): void {
    const table = new Int32Array(this.#table.length * 2).fill(-1);
    const mask = table.length - 1;
    for (let index = 0; index < this.count; index += 1) {
      let slot = hash(this.#chunk(index), (index % CHUNK) * this.#size, this.#size) & mask;
      while ((table[slot] ?? -1) >= 0) slot = (slot + 1) & mask;
      table[slot] = index;
    }
    this.#table = table;
  }
}

function hash(bytes: Uint8Array, from: number, size: number): number {
  let value = 0x811c9dc5;
  for (let at = from; at < from + size; at += 1) value = Math.imul(value ^ (bytes[at] ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 12)) >>> 0;
}
