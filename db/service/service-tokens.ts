import { and, eq } from 'drizzle-orm';
import * as z from 'zod';
import { type KeyRing, DecryptionError } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { serviceTokens } from '#db/schema.ts';

interface ServiceToken {
  readonly accessToken: string;
  readonly version: number;
  /** Epoch milliseconds; undefined when the service named no expiry. */
  readonly expiresAt: number | undefined;
  readonly renewedAt: number;
}

const tokenContent = z.object({ account: z.string(), access_token: z.string() });

/**
 * One encrypted row for each environment, replaced by compare-and-set on its version.
 * @throws DatabaseUnavailableError from every method.
 */
export class ServiceTokenStore {
  readonly #database: Database;
  readonly #keyRing: KeyRing;
  readonly #environment: string;
  readonly #account: string;

  /** @param options.account a token of another account is not used: it would go on buying from the old wallet. */
  constructor(options: { database: Database; keyRing: KeyRing; environment: string; account: string }) {
    this.#database = options.database;
    this.#keyRing = options.keyRing;
    this.#environment = options.environment;
    this.#account = options.account;
  }

  /** Undefined without a row. A token of another account, or one that no key decrypts, is left out. */
  async read(): Promise<{ readonly version: number; readonly token: ServiceToken | undefined } | undefined> {
    const [row] = await this.#database.run((db) =>
      db.select().from(serviceTokens).where(eq(serviceTokens.environment, this.#environment)),
    );
    if (row === undefined) return undefined;
    const accessToken = this.#decrypt(row.encryptedToken);
    if (accessToken === undefined) return { version: row.version, token: undefined };
    return {
      version: row.version,
      token: {
        accessToken,
        version: row.version,
        expiresAt: row.expiresAt?.getTime(),
        renewedAt: row.renewedAt.getTime(),
      },
    };
  }

  /** @param replacedVersion undefined: no row. @returns undefined when another process was faster. */
  async replace(
    replacedVersion: number | undefined,
    token: Omit<ServiceToken, 'version'>,
  ): Promise<number | undefined> {
    const version = (replacedVersion ?? 0) + 1;
    const values = {
      encryptedToken: this.#encrypt(token.accessToken),
      version,
      expiresAt: token.expiresAt === undefined ? null : new Date(token.expiresAt),
      renewedAt: new Date(token.renewedAt),
    };
    const rows = await this.#database.run((db) =>
      replacedVersion === undefined
        ? db
            .insert(serviceTokens)
            .values({ environment: this.#environment, ...values })
            .onConflictDoNothing()
            .returning({ version: serviceTokens.version })
        : db
            .update(serviceTokens)
            .set(values)
            .where(and(eq(serviceTokens.environment, this.#environment), eq(serviceTokens.version, replacedVersion)))
            .returning({ version: serviceTokens.version }),
    );
    return rows[0]?.version;
  }

  get #aad(): string {
    return `service_tokens.encrypted_token/${this.#environment}`;
  }

  #encrypt(accessToken: string): Buffer {
    return this.#keyRing.encrypt(JSON.stringify({ account: this.#account, access_token: accessToken }), this.#aad);
  }

  #decrypt(encrypted: Buffer): string | undefined {
    try {
      const content = tokenContent.parse(JSON.parse(this.#keyRing.decryptText(encrypted, this.#aad)));
      return content.account === this.#account ? content.access_token : undefined;
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }
}
