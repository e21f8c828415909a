import { DatabaseUnavailableError } from '#db/connection/database.ts';

export interface GroupCommitOptions<Item, Result> {
  readonly commit: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly maxBatch: number;
  /** One batch is written while the next one gathers. */
  readonly maxConcurrent: number;
  /** Beyond that PostgreSQL cannot keep up, and the sender has to repeat the request. */
  readonly maxWaiting: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits concurrent items in one statement. Items gather only while earlier ones are written. */
export class GroupCommit<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #underWay = 0;
  #scheduled = false;

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
  }

  /** @throws DatabaseUnavailableError, also when too many items wait; else what `commit` throws for the item. */
  async add(item: Item): Promise<Result> {
    if (this.#waiting.length >= this.#options.maxWaiting) {
      throw new DatabaseUnavailableError(new Error(`${this.#waiting.length} items wait to be written`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= this.#options.maxConcurrent || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#commitNext();
      this.#schedule();
    });
  }

  async #commitNext(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxBatch);
    if (batch.length === 0) return;
    this.#underWay += 1;
    try {
      await this.#commit(batch);
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }

  async #commit(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.commit(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new RangeError(`${results.length} results for ${batch.length} items`);
      results.forEach((result, position) => batch[position]?.resolve(result));
    } catch (error) {
      if (batch.length === 1 || error instanceof DatabaseUnavailableError) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One item that PostgreSQL refuses must not take the others with it.
      for (const single of batch) await this.#commit([single]);
    }
  }
}
