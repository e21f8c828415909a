/** Counts what is open for each lineage of API keys in this process, so that a key and its successor share a limit. */
export class OpenPerKey {
  readonly #open = new Map<string, number>();
  readonly #onChange: (all: number) => void;
  #all = 0;

  /** @param onChange called with the number of all that are open. */
  constructor(onChange: (all: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /**
   * Counts one more, unless this lineage has as many open as it may. Nothing happens between the look and the count.
   *
   * @returns what ends the count, once; undefined when there are too many.
   */
  enter(lineageId: string, limit: number): (() => void) | undefined {
    if ((this.#open.get(lineageId) ?? 0) >= limit) return undefined;
    this.#count(lineageId, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(lineageId, -1);
      isOpen = false;
    };
  }

  #count(lineageId: string, change: 1 | -1): void {
    const count = (this.#open.get(lineageId) ?? 0) + change;
    if (count === 0) this.#open.delete(lineageId);
    else this.#open.set(lineageId, count);
    this.#all += change;
    this.#onChange(this.#all);
  }
}
