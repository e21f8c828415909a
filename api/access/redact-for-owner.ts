import type { Owner } from '#db/lists/ownership.ts';
import type { Successor } from '#db/work/work-queries.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, isAboutAccount, isFailureClass, type FailureClass } from '#domain/work/failure.ts';

/**
 * Work as an owner sees it: a key that is limited to its own work does not learn what a failure says about the account.
 * @param owner undefined: a key that sees everything.
 */
export function workFor<
  Shown extends {
    readonly failure: {
      readonly class: FailureClass;
      readonly detail: string | null;
      readonly service_message: string | null;
    } | null;
  },
>(owner: Owner, shown: Shown): Shown {
  const { failure } = shown;
  if (owner === undefined || failure === null || !isAboutAccount(failure.class)) return shown;
  return { ...shown, failure: { ...failure, detail: FAILURE_CLASSES[failure.class].meaning, service_message: null } };
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
  if (owner === undefined || typeof failure !== 'string' || !isFailureClass(failure) || !isAboutAccount(failure))
    return entry;
  return { ...entry, message: FAILURE_CLASSES[failure].meaning };
}

/**
 * A case as an owner sees it. What the account had to do with a closed one is not known any more.
 */
export function caseFor<
  Case extends {
    readonly detail: string;
    readonly reason: AttentionReason;
    readonly closedAt: Date | null;
    readonly workFailure: FailureClass | null;
  },
>(owner: Owner, row: Case): Case {
  const { workFailure: failure, closedAt, reason } = row;
  if (owner === undefined || (closedAt === null && (failure === null || !isAboutAccount(failure)))) return row;
  return { ...row, detail: ATTENTION_REASONS[reason].meaning };
}
