/** Held work at the purchase gate, and about how much money it needs. */
import { and, asc, count, eq, min, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { IS_HELD } from '#db/gate/waits.ts';
import { gateWaits } from '#db/schema.ts';
import type { Barrier } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** Work that is held at one barrier for one reason. */
export interface HeldGroup {
  readonly barrier: Barrier;
  readonly failureClass: FailureClass;
  readonly count: number;
  readonly oldest: WorkRef & { readonly acceptedAt: Date };
  /** The sums of its known prices, by currency. */
  readonly needed: readonly Money[];
  /** How many have no known price. */
  readonly withoutPrice: number;
}

/** Held work of one currency; without a currency its price is not known. */
type Part = Omit<HeldGroup, 'needed' | 'withoutPrice'> & {
  readonly amount: string | null;
  readonly currency: string | null;
};

/** Held work by barrier and reason, the oldest group first. One statement reads each waiting row once. */
export async function heldGroups(db: Executor): Promise<HeldGroup[]> {
  const groups = new Map<string, HeldGroup>();
  for (const part of await heldParts(db)) {
    const name = `${part.barrier} ${part.failureClass}`;
    groups.set(name, withPart(groups.get(name), part));
  }
  return [...groups.values()];
}

/** The parts of all groups, the one with the oldest work first. */
async function heldParts(db: Executor): Promise<Part[]> {
  const { barrier, failureClass, priceCurrency: currency, acceptedAt, subjectKind, subjectId } = gateWaits;
  const parts = db
    .select({
      barrier,
      failureClass,
      currency,
      amount: sql<string | null>`sum(${gateWaits.priceAmount})::text`.as('amount'),
      count: count().as('rows'),
      acceptedAt: min(acceptedAt).as('oldest_at'),
    })
    .from(gateWaits)
    .where(IS_HELD)
    .groupBy(barrier, failureClass, currency)
    .as('parts');
  // Found by an index: to remember the id of the oldest beside its time would need a sort of all rows.
  const oldest = db
    .select({ kind: subjectKind, id: subjectId, acceptedAt })
    .from(gateWaits)
    .where(
      and(eq(barrier, parts.barrier), eq(acceptedAt, parts.acceptedAt), eq(failureClass, parts.failureClass), IS_HELD),
    )
    .orderBy(asc(subjectId))
    .limit(1)
    .as('oldest');
  const rows = await db
    .select({
      part: {
        barrier: parts.barrier,
        failureClass: parts.failureClass,
        currency: parts.currency,
        amount: parts.amount,
        count: parts.count,
      },
      oldest: { kind: oldest.kind, id: oldest.id, acceptedAt: oldest.acceptedAt },
    })
    .from(parts)
    .crossJoinLateral(oldest)
    .orderBy(asc(parts.acceptedAt), asc(parts.currency));
  return rows.map(({ part, oldest: first }) => ({ ...part, oldest: first }));
}

/** @param before the parts so far, of which the first has the oldest work. */
function withPart(before: HeldGroup | undefined, { amount, currency, ...part }: Part): HeldGroup {
  const { oldest, count: counted, needed, withoutPrice } = before ?? { ...part, count: 0, needed: [], withoutPrice: 0 };
  const isKnown = amount !== null && currency !== null;
  return {
    barrier: part.barrier,
    failureClass: part.failureClass,
    count: counted + part.count,
    oldest,
    needed: isKnown ? [...needed, { amount, currency }] : needed,
    withoutPrice: withoutPrice + (isKnown ? 0 : part.count),
  };
}
