import type { ApiKeyRow } from '#db/access/api-keys.ts';

/** A lookup that takes longer than this is not waited for by those that came after it: its connection may be dead. */
const LONGEST_TURN_MS = 50;

interface Lookup {
  readonly prefixes: Set<string>;
  readonly found: Promise<ReadonlyMap<string, ApiKeyRow>>;
}

/**
 * Looks API keys up: in one query for all requests that came while the query before was under way. None is joined that
 * has begun, since a key may have been revoked in between: what is found is never older than the request.
 */
export class KeyLookups {
  readonly #read: (prefixes: readonly string[]) => Promise<readonly ApiKeyRow[]>;
  /** Not begun yet. */
  #next: Lookup | undefined;
  /** Resolves when the one before has ended, well or not. */
  #before: Promise<unknown> | undefined;

  constructor(read: (prefixes: readonly string[]) => Promise<readonly ApiKeyRow[]>) {
    this.#read = read;
  }

  /** @throws what the query throws. */
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
