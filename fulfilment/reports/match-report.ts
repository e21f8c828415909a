import { and, eq, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { workTable } from '#db/work/kinds.ts';
import type { InboxMatch, NamedPurchase } from '#fulfilment/reports/match-by-esim.ts';
import { FULFILMENT_KINDS } from '#fulfilment/work/kinds.ts';

/**
 * Finds the attempt of an event: by the service's id, else by our reference, else, for kinds without a reference, by
 * the eSIM, of which only one attempt may be under way. Locks the work, then the attempt.
 */
export async function lockMatch(tx: Executor, named: NamedPurchase): Promise<InboxMatch | undefined> {
  const attemptId = await findAttemptId(tx, named);
  if (attemptId === undefined) return undefined;
  const [work] = await tx
    .select({ kind: attempts.subjectKind, id: attempts.subjectId })
    .from(attempts)
    .where(eq(attempts.id, attemptId));
  if (work === undefined) return undefined;
  const table = workTable(work.kind);
  const [found] = await tx.select().from(table).where(eq(table.id, work.id)).for('update');
  const [attempt] = await tx.select().from(attempts).where(eq(attempts.id, attemptId)).for('update');
  return found === undefined || attempt === undefined ? undefined : { work, row: found, attempt };
}

async function findAttemptId(db: Executor, named: NamedPurchase): Promise<string | undefined> {
  const { kind, serviceId, reference } = named;
  const by = async (name: SQL) => {
    const [found] = await db
      .select({ id: attempts.id })
      .from(attempts)
      .where(and(eq(attempts.subjectKind, kind), name));
    return found?.id;
  };
  const found =
    (serviceId && (await by(eq(attempts.serviceId, serviceId)))) ??
    (reference && (await by(eq(attempts.reference, reference))));
  if (found !== undefined && found !== '') return found;
  return FULFILMENT_KINDS[kind].findByEsim?.(db, named);
}
