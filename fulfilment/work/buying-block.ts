import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isAppliedBy } from '#db/queues/inbox.ts';
import { attempts, cases, inbox } from '#db/schema.ts';
import { inList } from '#db/schema/columns.ts';
import { ofWork } from '#db/work/attempts.ts';
import type { BuyingBlock } from '#domain/purchase/purchase-decision.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { gateIsClear } from '#fulfilment/gate/admission.ts';

/**
 * Runs in the transaction that buys or fails, with the work locked. `applied` holds the keys of rows that this step
 * applies.
 */
export async function buyingBlock(
  tx: Executor,
  work: WorkRef,
  applied: readonly string[] = [],
): Promise<BuyingBlock | undefined> {
  const { rows } = await tx.execute<Blocks>(sql`select ${blocks(work, applied)}`);
  return blockOf(rows[0]);
}

/** One statement, with the work locked. */
export async function readClaimConditions(tx: Executor, work: WorkRef) {
  const { rows } = await tx.execute<Blocks & { clear: boolean }>(
    sql`select ${blocks(work, [])}, ${gateIsClear(work)} as clear`,
  );
  return { block: blockOf(rows[0]), isGateClear: rows[0]?.clear === true };
}

type Blocks = { contradicted: boolean; pending: boolean };

function blocks(work: WorkRef, applied: readonly string[]): SQL {
  const { kind, id } = work;
  const isOpen = and(eq(cases.subjectKind, kind), eq(cases.subjectId, id), isNull(cases.closedAt));
  return sql`exists (select from ${cases} where ${isOpen} and ${cases.reason} = 'contradiction') as contradicted,
    ${observationsPending(work, applied)} as pending`;
}

function blockOf(read: Blocks | undefined): BuyingBlock | undefined {
  if (read?.contradicted === true) return 'contradiction';
  return read?.pending === true ? 'observations_pending' : undefined;
}

export async function hasPendingObservations(tx: Executor, work: WorkRef): Promise<boolean> {
  const { rows } = await tx.execute<Pick<Blocks, 'pending'>>(sql`select ${observationsPending(work, [])} as pending`);
  return rows[0]?.pending === true;
}

/** One probe for each name, so that each can use an index. */
function observationsPending({ kind, id }: WorkRef, applied: readonly string[]): SQL {
  const isOpen = and(
    eq(inbox.subjectKind, kind),
    // A quarantined report may say that it is bought, so it bars until an operator requeues or dismisses it. As
    // constants, so that the partial indexes are used.
    sql`${inbox.state} in (${inList(['pending', 'relayed', 'quarantined'])})`,
    ...(applied.length > 0 ? [sql`not (${isAppliedBy(applied)})`] : []),
  );
  // The limit keeps PostgreSQL from joining all reports that wait in a backlog.
  const naming = (name: SQL | undefined) =>
    sql`exists (select from ${attempts}
      cross join lateral (select from ${inbox} where ${and(name, isOpen)} limit 1) as report
      where ${ofWork({ kind, id })})`;
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
