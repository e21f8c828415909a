import { findAttempt } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { restoration, type Witness } from '#domain/purchase/restored-records.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { doubtAttempt, markFollowed } from '#fulfilment/attempts/restored-attempts.ts';

/** Dependencies of the restoration of lost attempts. */
export interface RestorationTools {
  /** Stores an attempt that has no row, with its derived key. */
  readonly open: (tx: Executor, number: number) => Promise<AttemptRow>;
  /** How long an unrecorded send may be under way, in milliseconds. */
  readonly leaseMs: number;
}

/**
 * Restores the attempts of a piece of work from the witness when PostgreSQL has lost their rows. Idempotent. The caller
 * holds the lock of the work.
 * @param row of the work.
 * @returns true when a row knew less than the witness.
 */
export async function restoreAttempts(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  witness: Witness,
  tools: RestorationTools,
): Promise<boolean> {
  const known = await findAttempt(tx, work, witness.number);
  if (restoration(witness, known) === 'none') return false;
  for (let number = 1; number < witness.number; number += 1) {
    if ((await findAttempt(tx, work, number)) === undefined) await markFollowed(tx, (await tools.open(tx, number)).id);
  }
  const attempt = known ?? (await tools.open(tx, witness.number));
  await doubtAttempt(tx, attempt, witness, {
    leaseMs: tools.leaseMs,
    busyEsimId: KINDS[work.kind].esim === 'existing' ? row.esimId : null,
  });
  return true;
}
