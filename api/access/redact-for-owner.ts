import type { WorkJson } from '#api/work/work-resource.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { Successor } from '#db/work/work-reads.ts';
import { ATTENTION_REASONS, isAttentionReason, type AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, isAboutAccount, isFailureClass } from '#domain/work/failure.ts';

/**
 * A key that is limited to its own work does not learn what a failure or a case says about the account.
 * @param owner undefined: a key that sees everything.
 */
export function workFor<Shown extends Pick<WorkJson, 'failure' | 'attention'>>(owner: Owner, shown: Shown): Shown {
  const { failure, attention } = shown;
  if (owner === undefined || failure === null) return shown;
  // The detail may quote the wallet, the newest delivery of another key, or what the service says about the account.
  const redacted = { ...failure, detail: FAILURE_CLASSES[failure.class].meaning };
  if (isAboutAccount(failure.class)) redacted.service_message = null;
  if (attention !== null) redacted.advice = 'A person decides about it.';
  return { ...shown, failure: redacted };
}

export function withOwnSuccessor<Stored extends { readonly replacedBy: Successor | null }>(
  owner: Owner,
  stored: Stored,
): Stored {
  const { replacedBy } = stored;
  if (owner === undefined || replacedBy === null || replacedBy.apiKeyId === owner) return stored;
  return { ...stored, replacedBy: null };
}

/** Entries that quote the wallet, or work of other keys. Those of the books begin with `books.`. */
const QUOTING: Readonly<Record<string, string>> = {
  'attempt.evidence_awaited': 'Nothing proves yet what it cost.',
  'attempt.wallet_checked': 'What it cost was checked.',
  'attempt.not_listed': 'The service does not list it.',
};

export function entryFor<
  Entry extends {
    readonly event: string;
    readonly message: string;
    readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  },
>(owner: Owner, entry: Entry): Entry {
  if (owner === undefined) return entry;
  const { event } = entry;
  const { failure_class: failure, attention_reason: attention } = entry.detail;
  if (isAttentionReason(attention)) return { ...entry, message: ATTENTION_REASONS[attention].forCaller };
  const general = event.startsWith('books.') ? 'The books of the account were compared.' : QUOTING[event];
  if (general !== undefined) return { ...entry, message: general, detail: {} };
  if (typeof failure !== 'string' || !isFailureClass(failure)) return entry;
  // An answer to the own request, unless it is about the account. A step adds the evidence of the wallet to it.
  const isAnswer = event.startsWith('attempt.');
  return isAnswer && !isAboutAccount(failure) ? entry : { ...entry, message: FAILURE_CLASSES[failure].meaning };
}

/** Both texts may quote the wallet, or an operator. */
export function caseFor<
  Case extends { readonly detail: string; readonly resolution: string | null; readonly reason: AttentionReason },
>(owner: Owner, row: Case): Case {
  if (owner === undefined) return row;
  const resolution = row.resolution === null ? null : 'The case is closed.';
  return { ...row, detail: ATTENTION_REASONS[row.reason].forCaller, resolution };
}
