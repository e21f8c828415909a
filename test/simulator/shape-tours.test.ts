import { describe, expect, it } from 'vitest';
import type { Trait } from '#domain/capability-profile.ts';
import type { TourFinding } from '#cli/sandbox-tour/finding.ts';
import type { TourReport } from '#cli/sandbox-tour/tour.ts';
import { shapeNames, type ShapeName } from '#simulator/shape/shape.ts';
import type { RefusedShape } from '#test/support/shapes.ts';
import { tourOf } from '#test/support/sandbox-tour.ts';
import { startTestSimulator } from '#test/simulator/support.ts';

type Seen = Readonly<Partial<Record<Trait, boolean>>>;

interface Difference {
  /** What the tour must name: a field of the contract. */
  readonly field: string;
  /** By kind of purchase, whether production may rely on the tour; undefined: nothing could be bought at all. */
  readonly seen: Seen | undefined;
}

const ALL_SEEN: Seen = { order_seen: true, topup_seen: true, vpn_seen: true };
const AMBIGUOUS: Difference = { field: 'data[].price_for_reseller', seen: undefined };
const NO_END: Difference = { field: 'listEnd', seen: ALL_SEEN };
const NO_REVIEW: Difference = { field: 'review', seen: ALL_SEEN };

/** The shapes that the product does not work with, or not with all of; with every other it does. */
const DIFFERENCES: Readonly<Partial<Record<ShapeName, Difference>> & Record<RefusedShape, Difference>> = {
  minor_units: AMBIGUOUS,
  ledger_like: AMBIGUOUS,
  other_words: { field: 'status', seen: undefined },
  no_esim_id: { field: 'esim_id', seen: undefined },
  no_vpn_access: { field: 'access', seen: { ...ALL_SEEN, vpn_seen: false } },
  no_references: { field: 'external_order_id', seen: { topup_seen: true, order_seen: false, vpn_seen: false } },
  no_transaction_ids: { field: 'order_id', seen: { order_seen: false, topup_seen: false, vpn_seen: false } },
  no_esim_times: { field: 'installed_at', seen: ALL_SEEN },
  // Everything is bought and delivered; what is not in a list that may go on proves nothing.
  silent_lists: NO_END,
  has_more: NO_END,
  link_header: NO_END,
  bare_array: NO_END,
  // Only a cancellation that a person decides about cannot be told from one that is under way.
  missing_optionals: NO_REVIEW,
  null_optionals: NO_REVIEW,
};

const working = shapeNames.filter((name) => DIFFERENCES[name] === undefined);

async function tour(name: ShapeName): Promise<TourReport> {
  await using simulator = await startTestSimulator();
  await simulator.admin.post('/shape', { name });
  return await tourOf(simulator, { furtherPackageIds: [9001, 9003] });
}

const complaints = ({ findings }: TourReport): readonly TourFinding[] =>
  findings.filter(({ status }) => status === 'failed' || status === 'drift');

function seenBy({ profile }: TourReport): Seen | undefined {
  if (profile === undefined) return undefined;
  const { order_seen, topup_seen, vpn_seen } = profile.findings;
  return { order_seen: order_seen === true, topup_seen: topup_seen === true, vpn_seen: vpn_seen === true };
}

describe('a service whose answers have another shape', () => {
  it('is met in at least forty shapes', () => {
    expect(shapeNames.length).toBeGreaterThanOrEqual(40);
  });

  it.each(working)('works: %s', async (name) => {
    const report = await tour(name);
    expect({ complaints: complaints(report), seen: seenBy(report) }).toEqual({ complaints: [], seen: ALL_SEEN });
  });

  it.each(Object.entries(DIFFERENCES))('is not relied upon before the field is put right: %s', async (name, { field, seen }) => {
    const report = await tour(name as ShapeName);
    expect(complaints(report).map(({ seen: text }) => text).join('\n')).toContain(field);
    expect(seenBy(report)).toEqual(seen);
  });
});
