/** Each action writes its audit entry in the caller's transaction. */
import { and, desc, eq, exists, gt, gte, isNotNull, isNull, lt, lte, sql, type SQL } from 'drizzle-orm';
import { generateShareSecret, hashSecret } from '#crypto/generated-secrets.ts';
import { type ApiKeyRow, lineageOf, lockUnrevokedKey } from '#db/access/api-keys.ts';
import { addAuditEntries, addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { type Owner, ownEsims } from '#db/lists/ownership.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { esims, shareLinks } from '#db/schema.ts';
import { findCancellationInForce } from '#db/work/cancellations.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { sharedEsimView, type SharedEsimView, type ShareLinkStatus } from '#domain/esims/share-link.ts';

/** The id of the caller's API key, for the audit log. */
interface Acting {
  readonly actor: string;
  readonly now: Date;
}

/**
 * Only this result contains the secret. @returns undefined when the caller's key is revoked, which closes its links: a
 * process may remember the key for longer.
 */
export async function createShareLink(
  tx: Executor,
  link: Pick<ShareLinkRow, 'esimId' | 'apiKeyId' | 'label' | 'language' | 'metadata' | 'expiresAt'>,
  { actor, now }: Acting,
): Promise<{ readonly row: ShareLinkRow; readonly secret: string } | undefined> {
  if (!(await lockUnrevokedKey(tx, actor))) return undefined;
  const secret = generateShareSecret();
  const [row] = await tx
    .insert(shareLinks)
    .values({ id: newId('shareLink'), ...link, secretHash: hashSecret(secret), createdAt: now })
    .returning();
  if (row === undefined) throw new Error('an inserted row was not returned');
  const subject = { kind: 'share_link', id: row.id } as const;
  const reason = `${row.esimId}, until ${row.expiresAt.toISOString()}`;
  await addAuditEntry(tx, { actor, action: 'share_link.create', subject, reason }, now);
  return { row, secret };
}

/** Its page is gone at once. A revoked link is not changed. @returns undefined when the owner has no such link. */
export async function revokeShareLink(
  tx: Executor,
  id: string,
  owner: Owner,
  { actor, now }: Acting,
): Promise<ShareLinkRow | undefined> {
  const found = await findShareLink(tx, id, owner, { lock: true });
  if (found === undefined || found.revokedAt !== null) return found;
  await addAuditEntry(tx, { actor, action: 'share_link.revoke', subject: { kind: 'share_link', id } }, now);
  const [row] = await tx.update(shareLinks).set({ revokedAt: now }).where(eq(shareLinks.id, id)).returning();
  return row;
}

/** The open links that a lineage made while this key, which is revoked, was valid. */
export async function revokeShareLinksOfKey(tx: Executor, key: ApiKeyRow, { actor, now }: Acting): Promise<number> {
  const revoked = await tx
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
  const entries = revoked.map(({ id }) => ({
    actor,
    action: 'share_link.revoke',
    subject: { kind: 'share_link', id } as const,
    reason: `${key.id} was revoked`,
  }));
  if (entries.length > 0) await addAuditEntries(tx, entries, now);
  return revoked.length;
}

/** Before the codes of the eSIM are shown. @returns false when the link has ended meanwhile. */
export async function recordShareLinkView(tx: Executor, { link, esim }: OpenShareLink, now: Date): Promise<boolean> {
  const counted = await tx
    .update(shareLinks)
    .set({ views: sql`${shareLinks.views} + 1`, lastViewedAt: now })
    .where(and(eq(shareLinks.id, link.id), hasStatus('active', now)))
    .returning({ id: shareLinks.id });
  if (counted.length === 0) return false;
  const subject = { kind: 'esim', id: esim.id } as const;
  await addAuditEntry(tx, { actor: `share_link/${link.id}`, action: 'esim.share_link_viewed', subject }, now);
  return true;
}

export async function readSharedView(db: Executor, esim: EsimRow, now: Date): Promise<SharedEsimView> {
  const isBeingCancelled = (await findCancellationInForce(db, esim.id)) !== undefined;
  return sharedEsimView(esim, { isBeingCancelled, now });
}

export type ShareLinkRow = typeof shareLinks.$inferSelect;

export async function listShareLinks(
  db: Executor,
  owner: Owner,
  filter: {
    readonly esimId?: string | undefined;
    readonly createdBy?: string | undefined;
    readonly status?: ShareLinkStatus | undefined;
  },
  { limit, after, now }: PageOptions<string> & { readonly now: Date },
): Promise<ShareLinkRow[]> {
  return db
    .select()
    .from(shareLinks)
    .where(
      and(
        ownLinks(db, owner),
        matches(shareLinks.esimId, filter.esimId),
        matches(shareLinks.apiKeyId, filter.createdBy),
        filter.status && hasStatus(filter.status, now),
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

interface OpenShareLink {
  readonly link: ShareLinkRow;
  readonly esim: EsimRow;
}

/** One statement in every case: the time of an answer does not tell whether the secret exists. */
export async function findOpenShareLink(
  db: Executor,
  secretHash: Buffer,
  now: Date,
): Promise<OpenShareLink | undefined> {
  const [row] = await db
    .select({ link: shareLinks, esim: esims })
    .from(shareLinks)
    .innerJoin(esims, eq(esims.id, shareLinks.esimId))
    .where(and(eq(shareLinks.secretHash, secretHash), hasStatus('active', now)));
  return row;
}
