import type { TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { noteCall, notePurchase } from '#cli/sandbox-tour/noting.ts';
import { clause, observeCall, type CallObservation, type OpenObservations } from '#cli/sandbox-tour/observations.ts';
import type { BoughtEsim } from '#cli/sandbox-tour/purchases.ts';

/** Reads the eSIM of a completed order, and its usage. */
export async function deliveryLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  { esimId, order }: BoughtEsim,
): Promise<void> {
  const { client } = context;
  const [step, expected] = ['GET /esims/{id}', 'an activation code'];
  const esim = await client.getEsim(esimId);
  if (esim.ok) {
    const {
      iccid,
      activation_code: code,
      misstated = [],
      order_id: orderId,
      installed_at: installedAt,
      activated_at: activatedAt,
    } = esim.value;
    const readable = code != null;
    const problem = misstated.includes('activation_code')
      ? 'an activation code without LPA:1$address$id'
      : 'an eSIM whose activation code is not filled yet';
    const seen: CallObservation = readable
      ? { kind: 'works', detail: 'one was completed, and its eSIM was read' }
      : { kind: 'differs', detail: `one was completed with ${problem}` };
    notePurchase(observations, 'order', seen);
    notes.expect(readable, step, expected, readable ? expected : problem);
    notes.expect(iccid != null, 'its ICCID', 'stated', iccid == null ? 'none that can be read' : 'stated');
    notes.expect(
      orderId == null || orderId === order.id,
      'its order',
      'the order that was placed',
      orderId == null ? 'none named' : 'named',
    );
    notes.expect(
      installedAt == null && activatedAt == null,
      'its state',
      'neither installed nor activated',
      `it is ${esim.value.status}`,
    );
  } else {
    notePurchase(observations, 'order', observeCall(esim));
    notes.failed(step, expected, clause(esim.detail));
  }
  const usage = observeCall(await client.getEsimUsage(esimId), ({ data_used_mb: used }) =>
    used === 0 ? undefined : `it reports ${used} MB used for an unused eSIM`,
  );
  noteCall(context, notes, observations, 'esim_usage', usage);
}
