/** What a transaction leaves to do after its commit: waking readers of queues, and passing facts on. */
import type { WorkFact } from '#domain/work/work-fact.ts';

/** `gate`: purchases that wait at the gate. `endpoints`: endpoint workflows that must be woken. */
export type Queue = 'outbox' | 'inbox' | 'events' | 'endpoints' | 'gate';

const addedBy = new WeakMap<object, Set<Queue>>();

/** Outside a transaction: call it after the statement that writes the rows, or it is taken before they exist. */
export function noteRowsAdded(db: object, queue: Queue): void {
  const added = addedBy.get(db);
  if (added === undefined) addedBy.set(db, new Set([queue]));
  else added.add(queue);
}

export function takeRowsAdded(db: object): ReadonlySet<Queue> | undefined {
  const added = addedBy.get(db);
  addedBy.delete(db);
  return added;
}

const factsOf = new WeakMap<object, WorkFact[]>();

export function noteFact(db: object, fact: WorkFact): void {
  const noted = factsOf.get(db);
  if (noted === undefined) factsOf.set(db, [fact]);
  else noted.push(fact);
}

export function takeFacts(db: object): readonly WorkFact[] {
  const facts = factsOf.get(db) ?? [];
  factsOf.delete(db);
  return facts;
}
