import { noteDebit, notePrice } from '#cli/sandbox-tour/amounts.ts';
import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { noteCall, notePurchase, noteRepeat } from '#cli/sandbox-tour/noting.ts';
import { clause, observeCall, type CallObservation, type OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { follow, observeRepeat } from '#cli/sandbox-tour/purchases.ts';
import { topupRequestBytes } from '#upstream/client/request-bytes.ts';

/** Recharges an eSIM with one of its options. @returns whether the top-up was completed. */
export async function topupLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  esimId: string,
): Promise<boolean> {
  const { client, now, newId } = context;
  const options = await client.listTopupOptions(esimId);
  if (!options.ok) {
    notes.failed('GET /esims/{id}/topup-options', 'packages that fit', clause(options.detail));
    return false;
  }
  const fitting = options.value.items.filter(({ available }) => available);
  notes.ok('GET /esims/{id}/topup-options', 'packages that fit', `${fitting.length} for sale`);
  const [option] = fitting;
  const [step, expected] = ['POST /topups', 'a top-up that is completed'];
  if (option === undefined) {
    notes.skipped(step, expected, 'this eSIM has no option');
    return false;
  }

  const body = topupRequestBytes({ esimId, packageId: option.id });
  const request = { idempotencyKey: newId(), body, esimId, packageId: option.id };
  const sentAtMs = now();
  const begun = await client.createTopup(request);
  if (!begun.ok) {
    notePurchase(observations, 'topup', observeCall(begun));
    notes.failed(step, expected, clause(begun.detail));
    return false;
  }
  const { id } = begun.value;
  const topup = await follow(
    context,
    begun.value,
    () => client.getTopup(id),
    () => client.findTopupsOfEsim(esimId),
  );
  const seen: CallObservation =
    topup.status === 'completed'
      ? { kind: 'works', detail: 'one was completed' }
      : { kind: 'unclear', detail: `the one that was bought is ${topup.status}` };
  notePurchase(observations, 'topup', seen);
  if (topup.status === 'completed') notes.ok(step, expected, `package ${option.id}: completed`);
  else notes.failed(step, expected, `package ${option.id}: ${topup.status}`);
  const price = notePrice(notes, observations, 'topup', option, topup);
  await noteDebit(context, notes, observations, 'topup', price, ({ topup_id: named }) => named === id);

  const read = observeCall(await client.getTopup(id));
  noteCall(context, notes, observations, 'topup_read', read);
  const list = observeCall(await client.findTopupsOfEsim(esimId), ({ items }) =>
    items.some((item) => item.id === id) ? undefined : 'it does not contain the new top-up under its esim_id',
  );
  noteCall(context, notes, observations, 'topup_list', list);
  const ageMs = now() - sentAtMs;
  noteRepeat(context, notes, observations, observeRepeat('top-up', id, ageMs, await client.createTopup(request)));
  return topup.status === 'completed';
}
