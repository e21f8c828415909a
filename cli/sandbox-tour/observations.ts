import type { Leg, LegRecord } from '#cli/sandbox-tour/leg.ts';
import { callsOf } from '#cli/sandbox-tour/profile.ts';
import { lapse } from '#cli/terminal/output.ts';
import type { Capability } from '#domain/service/capability-profile.ts';
import { counted } from '#domain/text.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import type { Listing, OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

export type CallObservation =
  | { readonly kind: 'works'; readonly detail: string }
  /** 404, 405 or 501 for an object that certainly exists. */
  | { readonly kind: 'missing'; readonly detail: string }
  /** The call differs from our contract. */
  | { readonly kind: 'differs'; readonly detail: string }
  /** A timeout, for example, proves nothing. */
  | { readonly kind: 'broken'; readonly detail: string }
  | { readonly kind: 'unclear'; readonly detail: string };

export type KeyedOperation = 'order' | 'top-up' | 'VPN order' | 'cancellation';

export interface KeyRepeat {
  readonly operation: KeyedOperation;
  /** Since the first send. */
  readonly ageMs: number;
  /** `same`: the stored result; `another`: carried out anew. */
  readonly outcome: 'same' | 'another' | 'refused' | 'unclear';
  readonly detail: string;
}

export interface SecondPurchase {
  readonly outcome: 'one' | 'two' | 'unclear';
  readonly detail: string;
}

export interface Observations {
  /** Absent when not tried. `key_replay` is not a call. */
  calls: Partial<Record<Exclude<Capability, 'key_replay'>, CallObservation>>;
  keyRepeats: KeyRepeat[];
  concurrentSends?: SecondPurchase;
  repeatedReference?: SecondPurchase;
  /** Null when the debit was not seen in time. */
  debitSeenAfterMs?: number | null;
  readonly resendWindowMs: number;
  /** Absent when no purchase was tried. */
  purchases: Partial<Record<PurchaseKind, CallObservation>>;
}

/** @param whenItWorks returns a clause about a readable answer; undefined when there is no problem. */
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
  return { kind: kindOfFailure(result), detail: clause(result.detail) };
}

function kindOfFailure({ status, failure }: ServiceFailure): 'missing' | 'differs' | 'broken' {
  if (status === undefined) return 'broken';
  if (status === 404 || status === 405 || status === 501) return 'missing';
  // A refusal of a request that our contract allows, or an answer that does not match it.
  if (status === 400 || status === 415 || status === 422) return 'differs';
  if (status >= 200 && status <= 299 && (failure === 'contract_drift' || failure === 'unreadable_answer'))
    return 'differs';
  return 'broken';
}

export function observeRefusal({ status, failure, code }: ServiceFailure): 'refused' | 'unclear' {
  if (failure === 'key_or_reference_used' || code === 'cancellation_refused') return 'refused';
  return status === 400 || status === 422 ? 'refused' : 'unclear';
}

/** Without full stop, and with "it" for "The service". */
export function clause(sentence: string): string {
  return sentence.replace(/\.$/, '').replace(/^The service /, 'it ');
}

export function noteCall(leg: Leg, capability: Exclude<Capability, 'key_replay'>, seen: CallObservation): void {
  leg.observations.calls[capability] = seen;
  const isOn = leg.configured[capability];
  const calls = callsOf(capability);
  const step = leg.step(calls, isOn ? 'the service has it' : 'SERVICE_MISSING_CAPABILITIES switches it off');
  switch (seen.kind) {
    case 'works':
      return step.ok(isOn ? seen.detail : `${seen.detail}: it could be switched on`);
    case 'broken':
      return step.failed(seen.detail);
    case 'unclear':
      return step.skipped(seen.detail);
    case 'missing':
    case 'differs':
      if (!isOn) return step.ok(seen.detail);
      if (seen.kind === 'differs') {
        const differs = { kind: 'differs', detail: `${calls}: ${seen.detail}` } as const;
        for (const kind of READS[capability] ?? []) notePurchase(leg, kind, differs);
      }
      return step.drift(`${seen.detail}; SERVICE_MISSING_CAPABILITIES=${capability} switches it off`);
  }
}

/** These purchases count as not seen when the answer of a read differs. */
const READS: Readonly<Partial<Record<Capability, readonly PurchaseKind[]>>> = {
  order_read: ['order'],
  order_list: ['order'],
  topup_read: ['topup'],
  topup_list: ['topup'],
  vpn_subscription_read: ['vpn_subscription'],
  vpn_subscription_list: ['vpn_subscription'],
  wallet_transactions: PURCHASE_KINDS,
};

/** A difference is never overwritten. */
export function notePurchase(leg: LegRecord, kind: PurchaseKind, seen: CallObservation): void {
  if (leg.observations.purchases[kind]?.kind !== 'differs') leg.observations.purchases[kind] = seen;
}

/** @param isFirst whether the second answer is that of the first send. */
export function noteRepeat<Answer>(
  leg: Leg,
  operation: KeyedOperation,
  ageMs: number,
  result: ServiceResult<Answer>,
  isFirst: (again: Answer) => boolean,
): KeyRepeat['outcome'] {
  const { outcome, detail } = observeRepeat(operation, result, isFirst);
  leg.observations.keyRepeats.push({ operation, ageMs, outcome, detail });
  const step = leg.step(
    `the same ${operation} with its key again, after ${lapse(ageMs)}`,
    leg.configured.key_replay ? 'the stored result' : 'any answer: SERVICE_MISSING_CAPABILITIES contains key_replay',
  );
  if (outcome === 'unclear') step.skipped(`${detail}, which proves nothing`);
  else if (outcome === 'same' || !leg.configured.key_replay) step.ok(detail);
  else step.drift(`${detail}; SERVICE_MISSING_CAPABILITIES=key_replay prevents resends`);
  return outcome;
}

function observeRepeat<Answer>(
  operation: KeyedOperation,
  result: ServiceResult<Answer>,
  isFirst: (again: Answer) => boolean,
): Pick<KeyRepeat, 'outcome' | 'detail'> {
  if (!result.ok) return { outcome: observeRefusal(result), detail: clause(result.detail) };
  if (isFirst(result.value)) return { outcome: 'same', detail: 'it returned the stored result' };
  const made = operation === 'cancellation' ? 'refund' : operation;
  return { outcome: 'another', detail: `it created another ${made}` };
}

/** A list without a shown end may have more items, so it is no evidence of absence. */
export function noteEnd(leg: Leg, call: string, { items, complete }: Listing<unknown>): void {
  if (complete) return;
  const known = counted(items.length, 'is', 'are');
  leg
    .step(call, 'a list that shows its end and can be read completely')
    .drift(`${known} known, and there may be more: the list does not show its end`);
}

/** Above the usual difference of two clocks, and below that of two time zones (30 minutes). */
const CLOCKS_DIFFER_MS = 10 * 60_000;

/** A service may write local time as UTC. */
export function noteTime(leg: Leg, written: string | null | undefined, now: number): void {
  const step = leg.step('the time of the order', 'created_at is about now');
  if (written == null) return step.skipped('the answer has no created_at');
  const offMs = Math.abs(Date.parse(written) - now);
  const seen = `${lapse(offMs)} ${Date.parse(written) < now ? 'behind' : 'ahead of'} our clock`;
  step.expect(offMs < CLOCKS_DIFFER_MS, seen);
}
