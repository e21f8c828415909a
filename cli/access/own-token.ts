import type { SharedToken, TokenStore } from '#upstream/client/session.ts';

/** Keeps the token of one command in memory, so that the command works without the database. */
export class OwnToken implements TokenStore {
  #token: SharedToken | undefined;

  async read(): ReturnType<TokenStore['read']> {
    const token = this.#token;
    return await Promise.resolve(token === undefined ? undefined : { version: token.version, token });
  }

  async replace(replacedVersion: number | undefined, token: Omit<SharedToken, 'version'>): Promise<number | undefined> {
    const version = (replacedVersion ?? 0) + 1;
    this.#token = { ...token, version };
    return await Promise.resolve(version);
  }
}
