import { and, desc, eq, exists, gt, gte, isNotNull, isNull, lt, lte, sql, type SQL } from 'drizzle-orm';
import { lineageOf, type ApiKeyRow } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { ownEsims, type Owner } from '#db/lists/ownership.ts';
import { esims, shareLinks } from '#db/schema.ts';
import type { EsimRow } from '#db/work/rows.ts';
import type { ShareLinkStatus } from '#domain/esims/share-link.ts';

export type ShareLinkRow = typeof shareLinks.$inferSelect;

export type NewShareLink = Pick<
  ShareLinkRow,
  'esimId' | 'apiKeyId' | 'secretHash' | 'label' | 'language' | 'metadata' | 'createdAt' | 'expiresAt'
>;

/** Stores a link. */
export async function insertShareLink(tx: Executor, link: NewShareLink): Promise<ShareLinkRow> {
  const [row] = await tx
    .insert(shareLinks)
    .values({ id: newId('shareLink'), ...link })
    .returning();
  if (row === undefined) throw new Error('an inserted row was not returned');
  return row;
}

export interface ShareLinkFilter {
  readonly esimId?: string | undefined;
  readonly createdBy?: string | undefined;
  readonly status?: ShareLinkStatus | undefined;
}

/**
 * A page of the links whose eSIMs the owner may see, newest first.
 * @param page.after id of the last one of the previous page. @param page.now decides which have expired.
 */
export async function listShareLinks(
  db: Executor,
  owner: Owner,
  { esimId, createdBy, status }: ShareLinkFilter,
  { limit, after, now }: { readonly limit: number; readonly after: string | undefined; readonly now: Date },
): Promise<ShareLinkRow[]> {
  return db
    .select()
    .from(shareLinks)
    .where(
      and(
        ownLinks(db, owner),
        esimId === undefined ? undefined : eq(shareLinks.esimId, esimId),
        createdBy === undefined ? undefined : eq(shareLinks.apiKeyId, createdBy),
        status === undefined ? undefined : hasStatus(status, now),
        after === undefined ? undefined : lt(shareLinks.id, after),
      ),
    )
    .orderBy(desc(shareLinks.id))
    .limit(limit);
}

function hasStatus(status: ShareLinkStatus, now: Date): SQL | undefined {
  if (status === 'revoked') return isNotNull(shareLinks.revokedAt);
  return and(
    isNull(shareLinks.revokedAt),
    status === 'active' ? gt(shareLinks.expiresAt, now) : lte(shareLinks.expiresAt, now),
  );
}

function ownLinks(db: Executor, owner: Owner): SQL | undefined {
  const own = ownEsims(db, owner);
  if (own === undefined) return undefined;
  return exists(
    db
      .select({ one: sql`1` })
      .from(esims)
      .where(and(eq(esims.id, shareLinks.esimId), own)),
  );
}

/** Finds a link whose eSIM the owner may see. @param lock true to lock the row until the transaction ends. */
export async function findShareLink(
  db: Executor,
  id: string,
  owner: Owner,
  { lock = false } = {},
): Promise<ShareLinkRow | undefined> {
  const query = db
    .select()
    .from(shareLinks)
    .where(and(eq(shareLinks.id, id), ownLinks(db, owner)));
  const [row] = await (lock ? query.for('update') : query);
  return row;
}

/** Stores that a link is revoked. */
export async function revokeLink(tx: Executor, id: string, now: Date): Promise<ShareLinkRow> {
  const [row] = await tx.update(shareLinks).set({ revokedAt: now }).where(eq(shareLinks.id, id)).returning();
  if (row === undefined) throw new Error(`share link ${id} does not exist`);
  return row;
}

/** Stores that the open links are revoked that a lineage made while this key of it was valid. @returns their ids. */
export async function revokeLinksOfKey(tx: Executor, key: ApiKeyRow, now: Date): Promise<string[]> {
  const rows = await tx
    .update(shareLinks)
    .set({ revokedAt: now })
    .where(
      and(
        eq(shareLinks.apiKeyId, lineageOf(key)),
        gte(shareLinks.createdAt, key.createdAt),
        key.expiresAt === null ? undefined : lte(shareLinks.createdAt, key.expiresAt),
        hasStatus('active', now),
      ),
    )
    .returning({ id: shareLinks.id });
  return rows.map(({ id }) => id);
}

/** A link that can be opened, with its eSIM. */
export interface OpenShareLink {
  readonly link: ShareLinkRow;
  readonly esim: EsimRow;
}

/**
 * Finds a link by its secret, if it is neither expired nor revoked. One statement in every case: the time of an answer
 * does not tell whether the secret exists.
 */
export async function findOpenShareLink(
  db: Executor,
  secretHash: Buffer,
  now: Date,
): Promise<OpenShareLink | undefined> {
  const [row] = await db
    .select({ link: shareLinks, esim: esims })
    .from(shareLinks)
    .innerJoin(esims, eq(esims.id, shareLinks.esimId))
    .where(and(eq(shareLinks.secretHash, secretHash), isNull(shareLinks.revokedAt), gt(shareLinks.expiresAt, now)));
  return row;
}

/** Counts a view, unless the link has ended meanwhile. @returns false when it has. */
export async function countShareLinkView(tx: Executor, id: string, now: Date): Promise<boolean> {
  const counted = await tx
    .update(shareLinks)
    .set({ views: sql`${shareLinks.views} + 1`, lastViewedAt: now })
    .where(and(eq(shareLinks.id, id), isNull(shareLinks.revokedAt), gt(shareLinks.expiresAt, now)))
    .returning({ id: shareLinks.id });
  return counted.length > 0;
}
