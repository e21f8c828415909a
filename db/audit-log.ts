import type { Executor } from '#db/database.ts';
import { auditLog } from '#db/schema.ts';

export interface AuditEntry {
  /** Who: the id of an API key. */
  readonly actor: string;
  /** Stable name, such as `esim.activation_revealed`. */
  readonly action: string;
  readonly subject: { readonly kind: 'esim'; readonly id: string };
}

/** Writes down who did what. Done before the act, so that nothing happens that is not written down. */
export async function addAuditEntry(db: Executor, entry: AuditEntry, now: Date): Promise<void> {
  await db.insert(auditLog).values({
    at: now,
    actor: entry.actor,
    action: entry.action,
    subjectKind: entry.subject.kind,
    subjectId: entry.subject.id,
  });
}
