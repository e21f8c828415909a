import type { Owner } from '#db/lists/ownership.ts';
import type { Successor } from '#db/work/work-queries.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

/**
 * Failure classes whose details concern the whole account: the wallet and its reservations, who
 * paused buying and why, the amount spent in a day. A key that is limited to its own work sees the class without
 * the details.
 */
const ABOUT_THE_ACCOUNT: ReadonlySet<string> = new Set<FailureClass>([
  'purchases_paused',
  'insufficient_balance',
  'spend_limit_reached',
]);

/** Work as an owner sees it. @param owner undefined: a key that sees everything. */
export function workFor<
  Shown extends { readonly failure: { readonly class: FailureClass; readonly detail: string | null } | null },
>(owner: Owner, shown: Shown): Shown {
  const { failure } = shown;
  if (owner === undefined || failure === null || !ABOUT_THE_ACCOUNT.has(failure.class)) return shown;
  return { ...shown, failure: { ...failure, detail: FAILURE_CLASSES[failure.class].meaning } };
}

/** Stored work without a successor that the owner may not see. */
export function withOwnSuccessor<Stored extends { readonly replacedBy: Successor | null }>(
  owner: Owner,
  stored: Stored,
): Stored {
  const { replacedBy } = stored;
  if (owner === undefined || replacedBy === null || replacedBy.apiKeyId === owner) return stored;
  return { ...stored, replacedBy: null };
}

/** A line of a timeline as an owner sees it. */
export function entryFor<
  Entry extends { readonly message: string; readonly detail: Readonly<Record<string, unknown>> },
>(owner: Owner, entry: Entry): Entry {
  const failure = entry.detail['failure_class'];
  if (owner === undefined || typeof failure !== 'string' || !ABOUT_THE_ACCOUNT.has(failure)) return entry;
  return { ...entry, message: FAILURE_CLASSES[failure as FailureClass].meaning };
}
