/**
 * What a transaction leaves to do after its commit: the storage that fills a queue or changes work notes it, and the
 * committer wakes the readers and passes the facts on.
 */
import type { WorkFact } from '#domain/work/work-fact.ts';

/**
 * Queues with a reader that sleeps until it is woken. `gate`: purchases that wait at the gate. `endpoints`: workflows
 * of webhook endpoints that must be woken.
 */
export type Queue = 'outbox' | 'inbox' | 'events' | 'endpoints' | 'gate';

const filledBy = new WeakMap<object, Set<Queue>>();

/**
 * Notes that rows wait in queues, so that their readers are woken after the commit.
 *
 * Outside a transaction it must follow the statement that writes the rows: the note of an earlier moment may be taken
 * by another statement, before the rows exist.
 */
export function noteFilled(db: object, ...queues: readonly Queue[]): void {
  if (queues.length === 0) return;
  filledBy.set(db, new Set([...(filledBy.get(db) ?? []), ...queues]));
}

/** The queues that were filled; clears the note. */
export function takeFilled(db: object): ReadonlySet<Queue> | undefined {
  const filled = filledBy.get(db);
  filledBy.delete(db);
  return filled;
}

const factsOf = new WeakMap<object, WorkFact[]>();

/** Notes a fact about work, which is logged after the commit. */
export function noteFact(db: object, fact: WorkFact): void {
  const noted = factsOf.get(db);
  if (noted === undefined) factsOf.set(db, [fact]);
  else noted.push(fact);
}

/** The noted facts; clears them. */
export function takeFacts(db: object): readonly WorkFact[] {
  const facts = factsOf.get(db) ?? [];
  factsOf.delete(db);
  return facts;
}
