import type { WorkRef } from '#domain/work.ts';
import type { Executor } from '#db/database.ts';
import { auditLog } from '#db/schema.ts';

export interface AuditEntry {
  /** Who: the id of an API key, or `command/<account>` for a command and the account that ran it. */
  readonly actor: string;
  /** Stable name, such as `esim.activation_revealed`. */
  readonly action: string;
  /** A webhook secret has the id of its environment. */
  readonly subject: WorkRef | { readonly kind: 'case' | 'esim' | 'pause' | 'wallet_movement' | 'webhook_endpoint' | 'webhook_secret'; readonly id: string };
  /** Why, in the actor's words; where a reason is asked for. */
  readonly reason?: string;
}

/** Writes down who did what. Done before the act, so that nothing happens that is not written down. */
export async function addAuditEntry(db: Executor, entry: AuditEntry, now: Date): Promise<void> {
  await db.insert(auditLog).values({
    at: now,
    actor: entry.actor,
    action: entry.action,
    subjectKind: entry.subject.kind,
    subjectId: entry.subject.id,
    reason: entry.reason ?? null,
  });
}
