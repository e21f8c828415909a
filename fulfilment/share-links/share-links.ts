/** Creating, revoking and opening share links. Each writes its audit entry in the caller's transaction. */
import { generateShareSecret, hashShareSecret } from '#crypto/share-secret.ts';
import type { ApiKeyRow } from '#db/access/api-keys.ts';
import { addAuditEntries, addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import {
  countShareLinkView,
  findShareLink,
  insertShareLink,
  revokeLink,
  revokeLinksOfKey,
  type NewShareLink,
  type OpenShareLink,
  type ShareLinkRow,
} from '#db/esims/share-links.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { findCancellationInForce } from '#db/work/cancellations.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { sharedEsimView, type SharedEsimView } from '#domain/esims/share-link.ts';

/** The caller of an action, for the audit log: the id of its API key. */
interface Acting {
  readonly actor: string;
  readonly now: Date;
}

/** Stores a link with a new secret, which only this result contains. */
export async function createShareLink(
  tx: Executor,
  link: Omit<NewShareLink, 'secretHash' | 'createdAt'>,
  { actor, now }: Acting,
): Promise<{ readonly row: ShareLinkRow; readonly secret: string }> {
  const secret = generateShareSecret();
  const row = await insertShareLink(tx, { ...link, secretHash: hashShareSecret(secret), createdAt: now });
  const subject = { kind: 'share_link', id: row.id } as const;
  const reason = `${row.esimId}, until ${row.expiresAt.toISOString()}`;
  await addAuditEntry(tx, { actor, action: 'share_link.create', subject, reason }, now);
  return { row, secret };
}

/**
 * Revokes a link: its page is gone at once. A revoked link is not changed.
 * @returns undefined when the owner has no such link.
 */
export async function revokeShareLink(
  tx: Executor,
  id: string,
  owner: Owner,
  { actor, now }: Acting,
): Promise<ShareLinkRow | undefined> {
  const found = await findShareLink(tx, id, owner, { lock: true });
  if (found === undefined || found.revokedAt !== null) return found;
  await addAuditEntry(tx, { actor, action: 'share_link.revoke', subject: { kind: 'share_link', id } }, now);
  return revokeLink(tx, id, now);
}

/** Revokes the open links of a key that is revoked. @returns how many. */
export async function revokeShareLinksOfKey(tx: Executor, key: ApiKeyRow, { actor, now }: Acting): Promise<number> {
  const ids = await revokeLinksOfKey(tx, key, now);
  const entries = ids.map((id) => ({
    actor,
    action: 'share_link.revoke',
    subject: { kind: 'share_link', id } as const,
    reason: `${key.id} was revoked`,
  }));
  if (entries.length > 0) await addAuditEntries(tx, entries, now);
  return ids.length;
}

/**
 * Counts a view of a link and adds it to the audit log, before the codes of the eSIM are shown.
 * @returns false when the link has ended meanwhile.
 */
export async function recordShareLinkView(tx: Executor, { link, esim }: OpenShareLink, now: Date): Promise<boolean> {
  if (!(await countShareLinkView(tx, link.id, now))) return false;
  const subject = { kind: 'esim', id: esim.id } as const;
  await addAuditEntry(tx, { actor: `share_link/${link.id}`, action: 'esim.share_link_viewed', subject }, now);
  return true;
}

/** What the page of a link to this eSIM shows now. */
export async function readSharedView(db: Executor, esim: EsimRow, now: Date): Promise<SharedEsimView> {
  const isBeingCancelled = (await findCancellationInForce(db, esim.id)) !== undefined;
  const times = {
    installedAt: esim.installedAt?.getTime() ?? null,
    activatedAt: esim.activatedAt?.getTime() ?? null,
    expiresAt: esim.expiresAt?.getTime() ?? null,
  };
  return sharedEsimView({ status: esim.status, ...times }, { isBeingCancelled, now: now.getTime() });
}
