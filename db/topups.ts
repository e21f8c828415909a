/** Top-ups as the API accepts them and as their activities see them, beyond what all work has (`work.ts`). */
import { eq } from 'drizzle-orm';
import type { Money } from '#domain/money.ts';
import type { Executor } from '#db/database.ts';
import { requestStart } from '#db/outbox.ts';
import { esims, topups } from '#db/schema.ts';
import { addTimelineEntry } from '#db/timeline.ts';
import { WorkMissingError } from '#db/work.ts';

export type TopupRow = typeof topups.$inferSelect;

/** A top-up with the eSIM that it is for. */
export interface TopupOfEsim {
  readonly topup: TopupRow;
  readonly esim: typeof esims.$inferSelect;
}

/** @throws WorkMissingError */
export async function readTopup(db: Executor, topupId: string): Promise<TopupOfEsim> {
  const [row] = await db
    .select({ topup: topups, esim: esims })
    .from(topups)
    .innerJoin(esims, eq(esims.id, topups.esimId))
    .where(eq(topups.id, topupId));
  if (row === undefined) throw new WorkMissingError({ kind: 'topup', id: topupId });
  return row;
}

export interface NewTopup {
  readonly id: string;
  readonly apiKeyId: string;
  /** Ours; it exists. */
  readonly esimId: string;
  readonly packageId: number;
  /** The service takes no reference of a top-up, so this one is for the caller alone. */
  readonly externalTopupId: string | null;
  readonly maxPrice: Money | null;
  readonly deadlineAt: Date | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export type TopupIntake =
  | { readonly accepted: true }
  /** The reference is taken: a top-up is made at most once for it, whatever key or caller asks. */
  | { readonly accepted: false; readonly existingTopupId: string };

/**
 * Accepts a top-up: the row, the request to start its workflow and the first line of its timeline, in the caller's
 * transaction. Temporal may be down.
 */
export async function acceptTopup(tx: Executor, topup: NewTopup, now: Date): Promise<TopupIntake> {
  const { maxPrice, metadata, ...columns } = topup;
  const inserted = await tx
    .insert(topups)
    .values({
      ...columns,
      maxPriceAmount: maxPrice?.amount ?? null,
      maxPriceCurrency: maxPrice?.currency ?? null,
      metadata: { ...metadata },
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing({ target: topups.externalTopupId })
    .returning({ id: topups.id });
  const { id, externalTopupId } = topup;
  if (inserted.length === 0) return { accepted: false, existingTopupId: await topupIdOf(tx, externalTopupId) };
  const work = { kind: 'topup', id } as const;
  await requestStart(tx, work);
  await addTimelineEntry(tx, work, {
    event: 'topup.accepted',
    message: 'The top-up was accepted and stored; its workflow is about to start.',
    detail: { esim_id: topup.esimId, package_id: topup.packageId },
    dedupKey: 'topup.accepted',
    at: now,
  });
  return { accepted: true };
}

/** The insert waited for whoever took the reference, so that top-up is committed and seen by this later statement. */
async function topupIdOf(tx: Executor, externalTopupId: string | null): Promise<string> {
  const [row] =
    externalTopupId === null
      ? []
      : await tx.select({ id: topups.id }).from(topups).where(eq(topups.externalTopupId, externalTopupId));
  if (row === undefined) throw new Error('a top-up took this external_topup_id and is gone: top-ups are never deleted');
  return row.id;
}
