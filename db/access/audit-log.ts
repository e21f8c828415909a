import { and, desc, eq, gt, lt } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { apiKeys, auditLog } from '#db/schema.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

type OtherSubject =
  | 'line'
  | 'api_key'
  | 'capability_profile'
  | 'case'
  | 'dead_letter'
  | 'encryption_key'
  | 'esim'
  | 'order_batch'
  | 'pause'
  | 'pricing_rule'
  | 'share_link'
  | 'wallet_movement'
  | 'webhook_endpoint'
  | 'webhook_secret';

export interface AuditEntry {
  /** An API key's id, `command/<operating-system account>`, or `share_link/<id>`. */
  readonly actor: string;
  readonly action: string;
  readonly subject: WorkRef | { readonly kind: OtherSubject; readonly id: string };
  /** For an API key or webhook endpoint it names the change, without secrets. */
  readonly reason?: string;
}

/** Written before the action, so that no action happens without an entry. */
export async function addAuditEntry(db: Executor, entry: AuditEntry, now: Date): Promise<void> {
  await addAuditEntries(db, [entry], now);
}

export async function addAuditEntries(db: Executor, entries: readonly AuditEntry[], now: Date): Promise<void> {
  const rows = entries.map(({ actor, action, subject, reason = null }) => ({
    at: now,
    actor,
    action,
    subjectKind: subject.kind,
    subjectId: subject.id,
    reason,
  }));
  await db.insert(auditLog).values(rows);
}

interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subjectKind?: string | undefined;
  readonly subjectId?: string | undefined;
  /** Both exclusive. */
  readonly after?: Date | undefined;
  readonly before?: Date | undefined;
}

export type AuditRow = Awaited<ReturnType<typeof listAuditEntries>>[number];

/** Newest first. @param page.after id of the last entry of the previous page. */
export async function listAuditEntries(db: Executor, filter: AuditFilter, page: PageOptions<bigint>) {
  return db
    .select({ entry: auditLog, key: { name: apiKeys.name, prefix: apiKeys.prefix } })
    .from(auditLog)
    .leftJoin(apiKeys, eq(apiKeys.id, auditLog.actor))
    .where(
      and(
        matches(auditLog.actor, filter.actor),
        matches(auditLog.action, filter.action),
        matches(auditLog.subjectKind, filter.subjectKind),
        matches(auditLog.subjectId, filter.subjectId),
        filter.after && gt(auditLog.at, filter.after),
        filter.before && lt(auditLog.at, filter.before),
        page.after === undefined ? undefined : lt(auditLog.id, page.after),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(page.limit);
}
