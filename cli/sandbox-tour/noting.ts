/** How what was observed becomes a step of the report; beside the configuration, which may expect it or not. */
import { lapse, type TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import type { CallObservation, KeyRepeat, OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { callsOf } from '#cli/sandbox-tour/profile.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import type { Capability } from '#domain/service/capabilities.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import type { Listing } from '#upstream/client.ts';

/** A call that the service may not have. */
export function noteCall(
  { configured }: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  capability: Exclude<Capability, 'key_replay'>,
  seen: CallObservation,
): void {
  observations.calls[capability] = seen;
  const step = callsOf(capability);
  const expected = configured[capability]
    ? 'the service has it'
    : 'SERVICE_WITHOUT says that the service does not have it';
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
      return notes.drift(step, expected, `${seen.detail}; SERVICE_WITHOUT=${capability} switches it off`);
  }
}

/** By the call that reads them, the kinds of purchase that were not seen when its shape differs. */
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

/** How a kind of purchase was seen through. A difference that was found stays. */
export function notePurchase(observations: OpenObservations, kind: PurchaseKind, seen: CallObservation): void {
  if (observations.purchases[kind]?.kind !== 'differs') observations.purchases[kind] = seen;
}

/** The same bytes under the same key. */
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
    : 'anything: SERVICE_WITHOUT says that keys are not replayed';
  if (outcome === 'same') return notes.ok(step, expected, detail);
  if (outcome === 'unclear') return notes.skipped(step, expected, `${detail}, which proves nothing`);
  if (configured.key_replay)
    return notes.drift(step, expected, `${detail}; SERVICE_WITHOUT=key_replay keeps it from being done`);
  return notes.ok(step, expected, detail);
}

/** What was charged must be what was listed. An answer that names no price is no drift: none is stated. */
export function notePrice(
  notes: LegNotes,
  listed: { readonly price_for_reseller: string; readonly currency: string },
  charged: { readonly price_for_reseller?: string | null | undefined; readonly currency?: string | null | undefined },
): void {
  const price = moneyOf(listed.price_for_reseller, listed.currency);
  const [step, expected] = ['the price charged', `the listed ${price.amount} ${price.currency}`];
  if (charged.price_for_reseller == null) return notes.skipped(step, expected, 'the answer names none');
  const actual = moneyOf(charged.price_for_reseller, charged.currency ?? listed.currency);
  notes.expect(equalMoney(actual, price), step, expected, `${actual.amount} ${actual.currency}`);
}

/** A list that does not say that it has ended may go on, and proves nothing by what it does not show. */
export function noteEnd(notes: LegNotes, step: string, { items, complete }: Listing<unknown>): boolean {
  const seen = `${items.length} are known, and there may be more (listEnd in upstream/contract/variants.ts)`;
  return complete || notes.expect(false, step, 'a list that says where it ends, and can be read whole', seen);
}

/** Clocks of two machines differ by less; time zones differ by half an hour at least. */
const CLOCKS_DIFFER_MS = 10 * 60_000;

/** A time that the service has just written must be about now: one in local time, without its zone, is read as UTC. */
export function noteTime(notes: LegNotes, written: string | null | undefined, now: number): void {
  const [step, expected] = ['the time of the order', 'created_at is about now'];
  if (written == null) return notes.skipped(step, expected, 'the answer names none');
  const offMs = Date.parse(written) - now;
  const seen = `${lapse(Math.abs(offMs))} ${offMs < 0 ? 'behind' : 'ahead of'} our clock`;
  notes.expect(Math.abs(offMs) < CLOCKS_DIFFER_MS, step, expected, seen);
}

function moneyOf(amount: string, currency: string): Money {
  return { amount, currency };
}
