/** Observations of a tour, as plain data; `profile.ts` draws conclusions from them. */
import type { Capability } from '#domain/service/capability-profile.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** Result of a call that the service may lack. */
export type CallObservation =
  | { readonly kind: 'works'; readonly detail: string }
  /** The service lacks the call: 404, 405 or 501 for an object that certainly exists. */
  | { readonly kind: 'missing'; readonly detail: string }
  /** The call exists, and differs from our contract. */
  | { readonly kind: 'differs'; readonly detail: string }
  /** The call failed in a way that proves nothing, such as a timeout. */
  | { readonly kind: 'broken'; readonly detail: string }
  /** The attempt proves nothing. */
  | { readonly kind: 'unclear'; readonly detail: string };

/** Operations that take an Idempotency-Key. */
export type KeyedOperation = 'order' | 'top-up' | 'VPN order' | 'cancellation';

/** Result of a request that was repeated with the same bytes and key. */
export interface KeyRepeat {
  readonly operation: KeyedOperation;
  /** Since the first send, in milliseconds. */
  readonly ageMs: number;
  /** `same`: the stored result; `another`: carried out anew. */
  readonly outcome: 'same' | 'another' | 'refused' | 'unclear';
  /** As a clause. */
  readonly detail: string;
}

/** Result of a purchase that the service may refuse as a duplicate. */
export interface SecondPurchase {
  readonly outcome: 'one' | 'two' | 'unclear';
  /** As a clause. */
  readonly detail: string;
}

export interface Observations {
  /** By capability; absent when it was not tried. `key_replay` is not a call. */
  readonly calls: Readonly<Partial<Record<Exclude<Capability, 'key_replay'>, CallObservation>>>;
  readonly keyRepeats: readonly KeyRepeat[];
  /** Two sends of one key at the same moment. */
  readonly concurrentSends?: SecondPurchase;
  /** The same reference under another key. */
  readonly repeatedReference?: SecondPurchase;
  /**
   * Time from the answer to a purchase until its debit was seen, in milliseconds; null when it was not seen in time.
   */
  readonly debitSeenAfterMs?: number | null;
  /** How long purchases may be sent again, in milliseconds. */
  readonly resendWindowMs: number;
  /** By kind, whether a purchase was seen from its first answer to its delivery; absent when none was tried. */
  readonly purchases: Readonly<Partial<Record<PurchaseKind, CallObservation>>>;
}

/** {@link Observations} while the tour runs. */
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
 * Whether the service has a call, judged by one result of it.
 *
 * @param whenItWorks returns the problem of a readable answer, as a clause; undefined when there is none.
 */
export function observeCall<Value>(
  result: OptionalResult<Value>,
  whenItWorks: (value: Value) => string | undefined = () => undefined,
): CallObservation {
  if (result.ok) {
    const problem = whenItWorks(result.value);
    return problem === undefined
      ? { kind: 'works', detail: 'its answer matches the contract' }
      : { kind: 'differs', detail: problem };
  }
  if (result.kind === 'unsupported') return { kind: 'unclear', detail: 'it was not called' };
  const detail = clause(result.detail);
  return { kind: kindOfFailure(result), detail };
}

function kindOfFailure({ status, failure }: ServiceFailure): 'missing' | 'differs' | 'broken' {
  if (status === undefined) return 'broken';
  if (status === 404 || status === 405 || status === 501) return 'missing';
  // The service refuses a request that is valid by our contract, or its answer does not match the contract.
  if (status === 400 || status === 415 || status === 422) return 'differs';
  if (status >= 200 && status <= 299 && (failure === 'contract_drift' || failure === 'unreadable_answer'))
    return 'differs';
  return 'broken';
}

/** Classifies the failure of a repeated purchase or cancellation. */
export function observeRefusal({ status, failure, code }: ServiceFailure): 'refused' | 'unclear' {
  if (failure === 'key_or_reference_used' || code === 'cancellation_refused') return 'refused';
  return status === 400 || status === 422 ? 'refused' : 'unclear';
}

/** Turns a sentence into a clause: without full stop, and with "it" for "The service". */
export function clause(sentence: string): string {
  return sentence.replace(/\.$/, '').replace(/^The service /, 'it ');
}
