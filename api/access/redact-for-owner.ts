import type { WorkJson } from '#api/work/work-resource.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { Successor } from '#db/work/work-queries.ts';
import { ATTENTION_REASONS, isAttentionReason, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, isAboutAccount, isFailureClass } from '#domain/work/failure.ts';

/**
 * Work as an owner sees it: a key that is limited to its own work does not learn what a failure or a case says about
 * the account.
 * @param owner undefined: a key that sees everything.
 */
export function workFor<Shown extends Pick<WorkJson, 'status' | 'failure' | 'attention'>>(
  owner: Owner,
  shown: Shown,
): Shown {
  const { status, failure, attention } = shown;
  if (owner === undefined || failure === null) return shown;
  const { meaning } = FAILURE_CLASSES[failure.class];
  if (isAboutAccount(failure.class))
    return { ...shown, failure: { ...failure, detail: meaning, service_message: null } };
  if (attention !== null)
    return { ...shown, failure: { ...failure, detail: meaning, advice: 'A person decides about it.' } };
  // While evidence is awaited, the detail quotes the wallet.
  return status === 'processing' ? { ...shown, failure: { ...failure, detail: meaning } } : shown;
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
  Entry extends {
    readonly event: string;
    readonly message: string;
    readonly detail: Readonly<Record<string, unknown>>;
  },
>(owner: Owner, entry: Entry): Entry {
  if (owner === undefined) return entry;
  const { failure_class: failure, attention_reason: attention } = entry.detail;
  if (isAttentionReason(attention)) return { ...entry, message: ATTENTION_REASONS[attention].forCaller };
  // It quotes the wallet.
  if (entry.event === 'attempt.evidence_awaited') return { ...entry, message: 'Nothing proves yet what it cost.' };
  if (typeof failure !== 'string' || !isFailureClass(failure) || !isAboutAccount(failure)) return entry;
  return { ...entry, message: FAILURE_CLASSES[failure].meaning };
}

/** A case as an owner sees it. */
export function caseFor<Case extends { readonly detail: string; readonly reason: AttentionReason }>(
  owner: Owner,
  row: Case,
): Case {
  return owner === undefined ? row : { ...row, detail: ATTENTION_REASONS[row.reason].forCaller };
}
