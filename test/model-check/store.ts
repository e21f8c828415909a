import { pack, unpack } from '#test/model-check/codec.ts';
import type { State } from '#test/model-check/state.ts';

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
