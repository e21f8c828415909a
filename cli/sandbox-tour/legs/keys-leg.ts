import { lapse, type TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { noteRepeat } from '#cli/sandbox-tour/noting.ts';
import type { OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { observeRepeat, type PlacedOrder } from '#cli/sandbox-tour/purchases.ts';

/** Sends the first order again with its key when that has the given age, to see whether the service still knows it. */
export async function keysLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  first: PlacedOrder,
  keyAgeMs: number,
): Promise<void> {
  const { client, now, delay } = context;
  const left = first.sentAtMs + keyAgeMs - now();
  if (left > 0) await delay(left);
  const ageMs = now() - first.sentAtMs;
  const repeat = observeRepeat('order', first.order.id, ageMs, await client.createOrder(first));
  noteRepeat(context, notes, observations, repeat);
  if (ageMs < observations.resendWindowMs && repeat.outcome === 'same') {
    notes.skipped(
      'an older key',
      `it is known for the ${lapse(observations.resendWindowMs)} of the resend window`,
      `not tried; --key-age ${Math.ceil(observations.resendWindowMs / 60_000)}m does`,
    );
  }
}
