/** The queues that a transaction has filled: the storage that fills one says so, and the committer wakes its reader. */

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
