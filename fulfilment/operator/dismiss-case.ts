import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { dismissDeliveryCase, findCase, type CaseOfWork } from '#db/work/cases.ts';

/** The case as it is now, or why it was not dismissed. */
export type CaseDismissal =
  | { readonly kind: 'closed'; readonly row: CaseOfWork }
  | { readonly kind: 'about_work'; readonly row: CaseOfWork }
  | { readonly kind: 'not_found' };

/**
 * Closes a case about a webhook delivery, with an entry in the audit log. A case that is closed already is not changed.
 *
 * @param owner whose cases may be dismissed; undefined: all.
 * @returns `about_work` for a case about work, which is resolved together with the work.
 */
export async function dismissCase(
  tx: Executor,
  id: string,
  { owner, actor, reason }: { readonly owner: Owner; readonly actor: string; readonly reason: string },
  now: Date,
): Promise<CaseDismissal> {
  const found = await findCase(tx, id, owner);
  if (found === undefined) return { kind: 'not_found' };
  if (found.closedAt !== null) return { kind: 'closed', row: found };
  if (found.subjectKind !== 'delivery') return { kind: 'about_work', row: found };
  await dismissDeliveryCase(tx, found, reason, now);
  await addAuditEntry(tx, { actor, action: 'case.dismiss', subject: { kind: 'case', id }, reason }, now);
  const row = await findCase(tx, id, owner);
  return row === undefined ? { kind: 'not_found' } : { kind: 'closed', row };
}
