import type { ApiKeyRow } from '#db/access/api-keys.ts';

/** Later lookups do not wait longer than this for an earlier one: its connection may be dead. */
const LONGEST_TURN_MS = 50;

interface Lookup {
  readonly prefixes: Set<string>;
  readonly found: Promise<ReadonlyMap<string, ApiKeyRow>>;
}

/**
 * Looks up API keys with one query for all requests that arrived during the previous query. A request never joins a
 * running query: a key may have been revoked after its start, and the result must not be older than the request.
 */
export class KeyLookups {
  readonly #read: (prefixes: readonly string[]) => Promise<readonly ApiKeyRow[]>;
  /** The lookup that has not started yet. */
  #next: Lookup | undefined;
  /** Resolves when the previous lookup has ended, also after a failure. */
  #before: Promise<unknown> | undefined;

  constructor(read: (prefixes: readonly string[]) => Promise<readonly ApiKeyRow[]>) {
    this.#read = read;
  }

  /** @throws the errors of the query. */
  async find(prefix: string): Promise<ApiKeyRow | undefined> {
    const lookup = (this.#next ??= this.#prepare());
    lookup.prefixes.add(prefix);
    return (await lookup.found).get(prefix);
  }

  #prepare(): Lookup {
    const prefixes = new Set<string>();
    const found = this.#turn().then(async () => {
      // The query starts now: later requests get the next lookup.
      this.#next = undefined;
      const rows = this.#read([...prefixes]);
      void this.#follow(rows);
      return new Map((await rows).map((row) => [row.prefix, row]));
    });
    return { prefixes, found };
  }

  /** Never rejects. */
  async #follow(rows: Promise<unknown>): Promise<void> {
    const before = Promise.allSettled([rows]);
    this.#before = before;
    await before;
    if (this.#before === before) this.#before = undefined;
  }

  async #turn(): Promise<void> {
    const before = this.#before;
    if (before === undefined) return;
    const { promise: tooLong, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LONGEST_TURN_MS);
    await Promise.race([before, tooLong]);
    clearTimeout(timer);
  }
}
