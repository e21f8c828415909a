import type { SharedToken, TokenStore } from '#upstream/client/session.ts';

/** A token store for several sessions of one process, with the compare-and-set of the real one. */
export class MemoryTokenStore implements TokenStore {
  stored: SharedToken | undefined;
  reads = 0;
  /** While set, every method throws this error. */
  broken: Error | undefined;

  async read(): ReturnType<TokenStore['read']> {
    this.reads += 1;
    if (this.broken !== undefined) throw this.broken;
    const { stored } = this;
    return await Promise.resolve(stored === undefined ? undefined : { version: stored.version, token: stored });
  }

  async replace(replacedVersion: number | undefined, token: Omit<SharedToken, 'version'>): Promise<number | undefined> {
    if (this.broken !== undefined) throw this.broken;
    if (this.stored?.version !== replacedVersion) return await Promise.resolve(undefined);
    this.stored = { ...token, version: (replacedVersion ?? 0) + 1 };
    return this.stored.version;
  }
}
