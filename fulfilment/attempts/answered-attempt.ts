import { and, eq, exists, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { RowMissingError } from '#db/work/work-rows.ts';
import { circuitsAtAGlance, type CircuitGlance } from '#fulfilment/gate/circuits.ts';

/** A locked attempt whose send the service has accepted, with what else its answer is judged by. */
export interface AnsweredAttempt {
  readonly attempt: AttemptRow;
  /** True when the service id of the answer belongs to another attempt of the kind. */
  readonly isTaken: boolean;
  readonly circuits: readonly CircuitGlance[];
}

/**
 * Reads and locks an attempt after the answer to its send, in one statement. The caller holds the lock of its work, so
 * this lock does not wait and the rest is current.
 *
 * @param serviceId of the answer.
 * @throws RowMissingError when it does not exist.
 */
export async function lockAnsweredAttempt(
  tx: Executor,
  { id, subjectKind }: Pick<AttemptRow, 'id' | 'subjectKind'>,
  serviceId: string | undefined,
): Promise<AnsweredAttempt> {
  const ofAnother = tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, subjectKind), eq(attempts.serviceId, serviceId ?? ''), ne(attempts.id, id)));
  const [locked] = await tx
    .select({ attempt: attempts, isTaken: sql<boolean>`${exists(ofAnother)}`, circuits: circuitsAtAGlance })
    .from(attempts)
    .where(eq(attempts.id, id))
    .for('update');
  if (locked === undefined) throw new RowMissingError(`attempt ${id} does not exist in this database`);
  return { ...locked, isTaken: serviceId !== undefined && locked.isTaken };
}
