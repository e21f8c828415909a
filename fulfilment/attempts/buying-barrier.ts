import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isAnsweredBy } from '#db/queues/inbox-keys.ts';
import { attempts, inbox } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import { hasOpenCase } from '#db/work/cases.ts';
import type { BuyingBarrier } from '#domain/purchase/purchase-decision.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

/**
 * Finds what bars work from being bought or from failing. Runs in that transaction, with the work locked.
 * @param answered keys of the inbox rows that this step handles.
 */
export async function buyingBarrier(
  tx: Executor,
  work: WorkRef,
  answered: readonly string[] = [],
): Promise<BuyingBarrier | undefined> {
  if (await hasOpenCase(tx, work, 'contradiction')) return 'contradiction';
  return (await hasPendingObservations(tx, work, answered)) ? 'observations_pending' : undefined;
}

/**
 * True while a report about the work is not judged or not handled.
 * @param answered keys of the inbox rows that this step handles.
 */
export async function hasPendingObservations(
  tx: Executor,
  work: WorkRef,
  answered: readonly string[] = [],
): Promise<boolean> {
  const names = await tx
    .select({ reference: attempts.reference, serviceId: attempts.serviceId, serviceEsimId: attempts.serviceEsimId })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, work.kind), eq(attempts.subjectId, work.id)));
  const references = names.flatMap(({ reference }) => reference ?? []);
  const serviceIds = names.flatMap(({ serviceId }) => serviceId ?? []);
  const esimIds =
    KINDS[work.kind].reportsName === 'id' ? [] : names.flatMap(({ serviceEsimId }) => serviceEsimId ?? []);
  const { subjectId, reference, serviceId, serviceEsimId } = inbox;
  const isOpen = and(
    eq(inbox.subjectKind, work.kind),
    // A quarantined report may say that it is bought, so it bars until an operator requeues or dismisses it. As constants,
    // so that the partial indexes are used.
    sql`${inbox.state} in (${inList(['pending', 'relayed', 'quarantined'])})`,
    ...(answered.length > 0 ? [sql`not (${isAnsweredBy(answered)})`] : []),
  );
  // One probe for each name: each has its index, and together they would read all reports that wait in a backlog.
  const probes = [
    eq(subjectId, work.id),
    ...(references.length > 0 ? [inArray(reference, references)] : []),
    ...(serviceIds.length > 0 ? [inArray(serviceId, serviceIds)] : []),
    ...(esimIds.length > 0 ? [and(isNull(subjectId), inArray(serviceEsimId, esimIds))] : []),
  ].map((named) => sql`exists (select from ${inbox} where ${and(isOpen, named)})`);
  const { rows } = await tx.execute<{ waits: boolean }>(sql`select ${sql.join(probes, sql` or `)} as waits`);
  return rows[0]?.waits === true;
}
