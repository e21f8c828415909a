import type { Capability } from '#domain/service/capabilities.ts';
/** What the probes of a tour saw: plain data, from which `profile.ts` draws its conclusions. */
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** What a call that the service may not have came to. */
export type CallObservation =
  | { readonly kind: 'works'; readonly detail: string }
  /** There is no such call: 404, 405 or 501 for something that certainly exists. */
  | { readonly kind: 'missing'; readonly detail: string }
  /** There is one, and it is not the one of our contract. */
  | { readonly kind: 'differs'; readonly detail: string }
  /** It failed in a way from which nothing follows, such as a timeout. */
  | { readonly kind: 'broken'; readonly detail: string }
  /** What was tried cannot tell. */
  | { readonly kind: 'unclear'; readonly detail: string };

/** Operations that take an Idempotency-Key. */
export type KeyedOperation = 'order' | 'top-up' | 'VPN order' | 'cancellation';

/** What the same bytes with the same key came to. */
export interface KeyRepeat {
  readonly operation: KeyedOperation;
  /** Since the first send, in milliseconds. */
  readonly ageMs: number;
  /** `same`: the stored result; `another`: carried out anew. */
  readonly outcome: 'same' | 'another' | 'refused' | 'unclear';
  /** As a clause. */
  readonly detail: string;
}

/** What a purchase under circumstances that may be refused came to. */
export interface SecondPurchase {
  readonly outcome: 'one' | 'two' | 'unclear';
  /** As a clause. */
  readonly detail: string;
}

export interface Observations {
  /** By capability; absent when it was not tried. `key_replay` is no call. */
  readonly calls: Readonly<Partial<Record<Exclude<Capability, 'key_replay'>, CallObservation>>>;
  readonly keyRepeats: readonly KeyRepeat[];
  /** Two sends of one key at the same moment. */
  readonly concurrentSends?: SecondPurchase;
  /** The same reference under another key. */
  readonly repeatedReference?: SecondPurchase;
  /**
   * How long after its answer a purchase's debit was seen, in milliseconds; null when it was not, in the time given.
   */
  readonly debitSeenAfterMs?: number | null;
  /** How long purchases may be sent again, in milliseconds. */
  readonly resendWindowMs: number;
  /** By kind, whether a purchase was seen from its first answer to what it delivers; absent when none was tried. */
  readonly purchases: Readonly<Partial<Record<PurchaseKind, CallObservation>>>;
}

/** Observations as they are being made. */
export interface OpenObservations {
  calls: Partial<Record<Exclude<Capability, 'key_replay'>, CallObservation>>;
  keyRepeats: KeyRepeat[];
  concurrentSends?: SecondPurchase;
  repeatedReference?: SecondPurchase;
  debitSeenAfterMs?: number | null;
  readonly resendWindowMs: number;
  purchases: Partial<Record<PurchaseKind, CallObservation>>;
}

/**
 * What the result of a call says about whether the service has the call.
 *
 * @param whenItWorks what is wrong with a readable answer, as a clause; undefined when nothing is.
 */
export function observeCall<Value>(
  result: OptionalResult<Value>,
  whenItWorks: (value: Value) => string | undefined = () => undefined,
): CallObservation {
  if (result.ok) {
    const problem = whenItWorks(result.value);
    return problem === undefined
      ? { kind: 'works', detail: 'it answers as the contract has it' }
      : { kind: 'differs', detail: problem };
  }
  if (result.kind === 'unsupported') return { kind: 'unclear', detail: 'it was not called' };
  const detail = clause(result.detail);
  return { kind: kindOfFailure(result), detail };
}

function kindOfFailure({ status, failure }: ServiceFailure): 'missing' | 'differs' | 'broken' {
  if (status === undefined) return 'broken';
  if (status === 404 || status === 405 || status === 501) return 'missing';
  // It refuses what is right by our contract, or answers something that is not in it.
  if (status === 400 || status === 415 || status === 422) return 'differs';
  if (status >= 200 && status <= 299 && (failure === 'contract_drift' || failure === 'unreadable_answer'))
    return 'differs';
  return 'broken';
}

/** What a repeated purchase or cancellation came to, when it was not carried out and did not replay. */
export function observeRefusal({ status, failure, code }: ServiceFailure): 'refused' | 'unclear' {
  if (failure === 'key_or_reference_used' || code === 'cancellation_refused') return 'refused';
  return status === 400 || status === 422 ? 'refused' : 'unclear';
}

/** A sentence as a clause. */
export function clause(sentence: string): string {
  return sentence.replace(/\.$/, '').replace(/^The service /, 'it ');
}
