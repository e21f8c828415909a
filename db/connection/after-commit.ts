/** The queues that a transaction has filled: the storage that fills one says so, and the committer wakes its reader. */

/**
 * Queues with a reader that sleeps until it is woken. `gate`: purchases that wait at the gate. `endpoints`: workflows of
 * webhook endpoints that must be woken.
 */
export type Queue = 'outbox' | 'inbox' | 'events' | 'endpoints' | 'gate';

const filledBy = new WeakMap<object, Set<Queue>>();

/**
 * Notes that rows wait in a queue, so that its reader is woken after the commit.
 *
 * Outside a transaction it must follow the statement that writes the rows: the note of an earlier moment may be taken by
 * another statement, before the rows exist.
 */
export function noteFilled(db: object, queue: Queue): void {
  const filled = filledBy.get(db);
  if (filled === undefined) filledBy.set(db, new Set([queue]));
  else filled.add(queue);
}

/** The queues that were filled; clears the note. */
export function takeFilled(db: object): ReadonlySet<Queue> | undefined {
  const filled = filledBy.get(db);
  filledBy.delete(db);
  return filled;
}
