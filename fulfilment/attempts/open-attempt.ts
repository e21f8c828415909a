import { findAttempt } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/**
 * Stores an attempt before its first send: key, exact body and reference (rule 1). An existing attempt is not changed,
 * so that a step that runs twice sends the same bytes.
 *
 * @param attempt.idempotencyKey follows from the work and the number, so a lost row gets the same key again.
 * @param attempt.reference undefined when the interface takes none.
 * @param attempt.serviceEsimId the service's id of an eSIM that exists before the purchase.
 * @param attempt.encryptedBody builds and encrypts the request body for the id of the new attempt.
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
  const { work, number, reference } = attempt;
  await tx
    .insert(attempts)
    .values({
      id,
      subjectKind: work.kind,
      subjectId: work.id,
      number,
      idempotencyKey: attempt.idempotencyKey,
      reference: reference ?? null,
      serviceEsimId: attempt.serviceEsimId ?? null,
      encryptedRequestBody: attempt.encryptedBody(id),
    })
    .onConflictDoNothing({ target: [attempts.subjectKind, attempts.subjectId, attempts.number] });
  const row = await findAttempt(tx, work, number);
  if (row === undefined) throw new Error(`attempt ${number} of ${work.id} cannot be read back`);
  if (row.id === id) await requeueUnmatched(tx, work.kind, { reference, serviceEsimId: attempt.serviceEsimId });
  return row;
}
