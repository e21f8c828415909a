import type { SharedToken, TokenStore } from '#upstream/client/session.ts';

/** A token store that several sessions of one process can share, with the same compare-and-set as the real one. */
export class MemoryTokenStore implements TokenStore {
  stored: SharedToken | undefined;
  reads = 0;
  /** Thrown by every method while set. */
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
