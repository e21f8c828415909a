/** Counts what is open for each lineage of API keys in this process, so that a key and its successor share a limit. */
export class OpenPerKey {
  readonly #open = new Map<string, number>();
  readonly #onChange: (all: number) => void;
  #all = 0;

  /** @param onChange called with the number of all that are open. */
  constructor(onChange: (all: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** The number that this lineage has open. */
  of(lineageId: string): number {
    return this.#open.get(lineageId) ?? 0;
  }

  /** Counts one more while the task runs. */
  async during(lineageId: string, task: () => Promise<void>): Promise<void> {
    this.#count(lineageId, 1);
    try {
      await task();
    } finally {
      this.#count(lineageId, -1);
    }
  }

  #count(lineageId: string, change: 1 | -1): void {
    const count = this.of(lineageId) + change;
    if (count === 0) this.#open.delete(lineageId);
    else this.#open.set(lineageId, count);
    this.#all += change;
    this.#onChange(this.#all);
  }
}
