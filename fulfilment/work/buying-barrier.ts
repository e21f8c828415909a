import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isAnsweredBy } from '#db/queues/inbox.ts';
import { attempts, cases, inbox } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import type { BuyingBarrier } from '#domain/purchase/purchase-decision.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { gateIsClear } from '#fulfilment/gate/admission.ts';

/**
 * Runs in the transaction that buys or fails, with the work locked. `answered` holds the keys of rows that this step
 * handles.
 */
export async function buyingBarrier(
  tx: Executor,
  work: WorkRef,
  answered: readonly string[] = [],
): Promise<BuyingBarrier | undefined> {
  const { rows } = await tx.execute<Barriers>(sql`select ${barriers(work, answered)}`);
  return barrierOf(rows[0]);
}

/** With the work locked. */
interface ClaimConditions {
  readonly barrier: BuyingBarrier | undefined;
  readonly isGateClear: boolean;
}

/** One statement. */
export async function readClaimConditions(tx: Executor, work: WorkRef): Promise<ClaimConditions> {
  const { rows } = await tx.execute<Barriers & { clear: boolean }>(
    sql`select ${barriers(work, [])}, ${gateIsClear(work)} as clear`,
  );
  return { barrier: barrierOf(rows[0]), isGateClear: rows[0]?.clear === true };
}

type Barriers = { contradicted: boolean; pending: boolean };

function barriers(work: WorkRef, answered: readonly string[]): SQL {
  const { kind, id } = work;
  const isOpen = and(eq(cases.subjectKind, kind), eq(cases.subjectId, id), isNull(cases.closedAt));
  return sql`exists (select from ${cases} where ${isOpen} and ${cases.reason} = 'contradiction') as contradicted,
    ${observationsPending(work, answered)} as pending`;
}

function barrierOf(read: Barriers | undefined): BuyingBarrier | undefined {
  if (read?.contradicted === true) return 'contradiction';
  return read?.pending === true ? 'observations_pending' : undefined;
}

export async function hasPendingObservations(tx: Executor, work: WorkRef): Promise<boolean> {
  const { rows } = await tx.execute<Pick<Barriers, 'pending'>>(sql`select ${observationsPending(work, [])} as pending`);
  return rows[0]?.pending === true;
}

/** One probe for each name, so that each can use an index. */
function observationsPending({ kind, id }: WorkRef, answered: readonly string[]): SQL {
  const isOpen = and(
    eq(inbox.subjectKind, kind),
    // A quarantined report may say that it is bought, so it bars until an operator requeues or dismisses it. As
    // constants, so that the partial indexes are used.
    sql`${inbox.state} in (${inList(['pending', 'relayed', 'quarantined'])})`,
    ...(answered.length > 0 ? [sql`not (${isAnsweredBy(answered)})`] : []),
  );
  const ofWork = and(eq(attempts.subjectKind, kind), eq(attempts.subjectId, id));
  // The limit keeps PostgreSQL from joining all reports that wait in a backlog.
  const naming = (name: SQL | undefined) =>
    sql`exists (select from ${attempts}
      cross join lateral (select from ${inbox} where ${and(name, isOpen)} limit 1) as report where ${ofWork})`;
  const probes = [
    sql`exists (select from ${inbox} where ${and(isOpen, eq(inbox.subjectId, id))})`,
    naming(eq(inbox.reference, attempts.reference)),
    naming(eq(inbox.serviceId, attempts.serviceId)),
    ...(KINDS[kind].reportsName === 'id'
      ? []
      : [naming(and(isNull(inbox.subjectId), eq(inbox.serviceEsimId, attempts.serviceEsimId)))]),
  ];
  return sql`(${sql.join(probes, sql` or `)})`;
}
