import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { findAttempt } from '#db/work/attempts.ts';
import { type AttemptRow, RowMissingError } from '#db/work/rows.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/**
 * Stored before the first send (rule 1). An existing attempt is not changed, so that a step that runs twice sends the
 * same bytes.
 * `idempotencyKey` follows from work and number, so a lost row gets the same key again.
 */
export async function openAttempt(
  tx: Executor,
  attempt: {
    readonly work: WorkRef;
    readonly number: number;
    readonly idempotencyKey: string;
    readonly reference: string | undefined;
    readonly serviceEsimId?: string | undefined;
    readonly encryptedBody: (attemptId: string) => Buffer;
  },
): Promise<AttemptRow> {
  const id = newId('attempt');
  const { work, number, reference, serviceEsimId } = attempt;
  await requeueUnmatched(tx, work.kind, { reference, serviceEsimId });
  const [inserted] = await tx
    .insert(attempts)
    .values({
      id,
      subjectKind: work.kind,
      subjectId: work.id,
      number,
      idempotencyKey: attempt.idempotencyKey,
      reference: reference ?? null,
      serviceEsimId: serviceEsimId ?? null,
      encryptedRequestBody: attempt.encryptedBody(id),
    })
    .onConflictDoNothing({ target: [attempts.subjectKind, attempts.subjectId, attempts.number] })
    .returning();
  const row = inserted ?? (await findAttempt(tx, work, number));
  if (row === undefined) throw new Error(`attempt ${number} of ${work.id} cannot be read back`);
  return row;
}

/** Durations are by the database's clock. */
export interface LockedAttempt {
  readonly attempt: AttemptRow;
  /** Zero or less: the lease of its last send has ended. Null: there is no lease. */
  readonly leaseLeftMs: number | null;
  /** Since its first send that was not definitely refused; null: there was none. */
  readonly unrefusedForMs: number | null;
}

/**
 * The caller holds the lock of the work, so this lock does not wait and the durations are current. @throws
 * RowMissingError
 */
export async function lockAttempt(tx: Executor, attemptId: string): Promise<LockedAttempt> {
  const [locked] = await tx
    .select({
      attempt: attempts,
      leaseLeftMs: milliseconds(sql`${attempts.leaseUntil} - clock_timestamp()`),
      unrefusedForMs: milliseconds(sql`clock_timestamp() - ${attempts.firstUnrefusedSendAt}`),
    })
    .from(attempts)
    .where(eq(attempts.id, attemptId))
    .for('update');
  if (locked === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return locked;
}

function milliseconds(interval: ReturnType<typeof sql>) {
  return sql<number | null>`(extract(epoch from ${interval}) * 1000)::double precision`;
}
