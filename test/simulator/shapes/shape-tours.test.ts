import { describe, expect, it } from 'vitest';
import type { TourFinding } from '#cli/sandbox-tour/leg.ts';
import type { TourReport } from '#cli/sandbox-tour/tour.ts';
import { type ShapeName, shapeNames } from '#simulator/shapes/shape.ts';
import { startTestSimulator } from '#test/simulator/support.ts';
import { tourOf } from '#test/support/sandbox-tour.ts';
import { ALL_SEEN, SHAPE_DIFFERENCES, type Seen } from '#test/support/shapes.ts';

const working = shapeNames.filter((name) => SHAPE_DIFFERENCES[name] === undefined);

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

describe('a service with another shape of answers', () => {
  it.each(working)('works: %s', async (name) => {
    const report = await tour(name);
    expect({ complaints: complaints(report), seen: seenBy(report) }).toEqual({ complaints: [], seen: ALL_SEEN });
  });

  it.each(Object.entries(SHAPE_DIFFERENCES))(
    'is not used before the field is corrected: %s',
    async (name, { field, seen }) => {
      const report = await tour(name as ShapeName);
      expect(
        complaints(report)
          .map(({ seen: text }) => text)
          .join('\n'),
      ).toContain(field);
      expect(seenBy(report)).toEqual(seen);
    },
  );
});
