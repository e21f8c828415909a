/** Turns observations into steps of the report, judged by the configuration. */
import { lapse, type TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import type { CallObservation, KeyRepeat, OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { callsOf } from '#cli/sandbox-tour/profile.ts';
import type { Capability } from '#domain/service/capability-profile.ts';
import { counted } from '#domain/text.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import type { Listing } from '#upstream/client.ts';

/** Records a call that the service may lack. */
export function noteCall(
  { configured }: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  capability: Exclude<Capability, 'key_replay'>,
  seen: CallObservation,
): void {
  observations.calls[capability] = seen;
  const step = callsOf(capability);
  const expected = configured[capability] ? 'the service has it' : 'SERVICE_MISSING_CAPABILITIES switches it off';
  switch (seen.kind) {
    case 'works':
      return notes.ok(step, expected, configured[capability] ? seen.detail : `${seen.detail}: it could be switched on`);
    case 'broken':
      return notes.failed(step, expected, seen.detail);
    case 'unclear':
      return notes.skipped(step, expected, seen.detail);
    case 'missing':
    case 'differs':
      if (!configured[capability]) return notes.ok(step, expected, seen.detail);
      noteUnreadable(observations, capability, seen);
      return notes.drift(step, expected, `${seen.detail}; SERVICE_MISSING_CAPABILITIES=${capability} switches it off`);
  }
}

/** For each read call, the kinds of purchase that count as not seen when the shape of its answer differs. */
const READS: Readonly<Partial<Record<Capability, readonly PurchaseKind[]>>> = {
  order_read: ['order'],
  order_list: ['order'],
  topup_read: ['topup'],
  topup_list: ['topup'],
  vpn_subscription_read: ['vpn_subscription'],
  vpn_subscription_list: ['vpn_subscription'],
  wallet_transactions: PURCHASE_KINDS,
};

function noteUnreadable(observations: OpenObservations, capability: Capability, seen: CallObservation): void {
  if (seen.kind !== 'differs') return;
  const detail = `${callsOf(capability)}: ${seen.detail}`;
  for (const kind of READS[capability] ?? []) notePurchase(observations, kind, { kind: 'differs', detail });
}

/** Records the observation of a kind of purchase. A difference is never overwritten. */
export function notePurchase(observations: OpenObservations, kind: PurchaseKind, seen: CallObservation): void {
  if (observations.purchases[kind]?.kind !== 'differs') observations.purchases[kind] = seen;
}

/** Records the repetition of a request with the same bytes and key. */
export function noteRepeat(
  { configured }: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  repeat: KeyRepeat,
): void {
  observations.keyRepeats.push(repeat);
  const { operation, ageMs, outcome, detail } = repeat;
  const step = `the same ${operation} with its key again, after ${lapse(ageMs)}`;
  const expected = configured.key_replay
    ? 'the stored result'
    : 'any answer: SERVICE_MISSING_CAPABILITIES contains key_replay';
  if (outcome === 'same') return notes.ok(step, expected, detail);
  if (outcome === 'unclear') return notes.skipped(step, expected, `${detail}, which proves nothing`);
  if (configured.key_replay)
    return notes.drift(step, expected, `${detail}; SERVICE_MISSING_CAPABILITIES=key_replay prevents resends`);
  return notes.ok(step, expected, detail);
}

/** Records drift for a list that does not show its end: it may have more items, so it is no evidence of absence. */
export function noteEnd(notes: LegNotes, step: string, { items, complete }: Listing<unknown>): boolean {
  const seen = `${counted(items.length, 'is', 'are')} known, and there may be more: the list does not show its end`;
  return complete || notes.expect(false, step, 'a list that shows its end and can be read completely', seen);
}

/** Above the usual difference of two clocks, and below that of two time zones (30 minutes). */
const CLOCKS_DIFFER_MS = 10 * 60_000;

/**
 * Checks that a new timestamp of the service is about now. It is not if the service writes local time as UTC.
 * @param now epoch milliseconds.
 */
export function noteTime(notes: LegNotes, written: string | null | undefined, now: number): void {
  const [step, expected] = ['the time of the order', 'created_at is about now'];
  if (written == null) return notes.skipped(step, expected, 'the answer has no created_at');
  const offMs = Date.parse(written) - now;
  const seen = `${lapse(Math.abs(offMs))} ${offMs < 0 ? 'behind' : 'ahead of'} our clock`;
  notes.expect(Math.abs(offMs) < CLOCKS_DIFFER_MS, step, expected, seen);
}
