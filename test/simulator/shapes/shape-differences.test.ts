import { describe, expect, it } from 'vitest';
import type { TourFinding } from '#cli/sandbox-tour/leg.ts';
import type { TourReport } from '#cli/sandbox-tour/tour.ts';
import { ALL_CAPABILITIES, capabilities } from '#domain/service/capability-profile.ts';
import { DIALECTS } from '#simulator/behaviour/dialect.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { PLAIN, SHAPES, shapeNames, type ShapeName } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import type { Environment } from '#simulator/store/store.ts';
import { startTestSimulator } from '#test/simulator/support.ts';
import { tourOf } from '#test/support/sandbox-tour.ts';
import { ALL_SEEN, SHAPE_DIFFERENCES, type Seen } from '#test/support/shapes.ts';
import { checkContract, readDocument } from '#upstream/contract-check.ts';

const documentOf = (environment: Environment, dialect = DIALECTS.replays, shape = PLAIN) =>
  readDocument(Buffer.from(JSON.stringify(describedService(dialect, environment, new Shaper(shape)))));

describe('the document of the simulator', () => {
  it.each(['sandbox', 'production'] as const)('matches our contract in every call and event: %s', (environment) => {
    const { compatible, calls, events } = checkContract(documentOf(environment), ALL_CAPABILITIES);
    const differing = calls.filter(({ status }) => status !== 'matches').map(({ name }) => name);
    expect(compatible).toBe(true);
    expect(differing).toEqual(environment === 'production' ? ['simulateEsim'] : []);
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['matches']));
  });

  // The other dialects differ in behaviour, not in their documents.
  it.each(['no_order_read', 'no_lookup', 'bare', 'open_reads'] as const)(
    'is compatible in the dialect %s with its missing capabilities switched off, and not with all of them',
    (name) => {
      const dialect = DIALECTS[name];
      const document = documentOf('sandbox', dialect);
      const enabled = capabilities.map((each) => [each, each === 'key_replay' || dialect[`has_${each}`]] as const);
      expect(checkContract(document, { ...ALL_CAPABILITIES, ...Object.fromEntries(enabled) }).compatible).toBe(true);
      expect(checkContract(document, ALL_CAPABILITIES).compatible).toBe(name === 'open_reads');
    },
  );

  it.each(shapeNames)('in the shape %s is compatible, or names the fields that the product cannot use', (name) => {
    const shape = SHAPES[name];
    const document = documentOf('sandbox', DIALECTS.replays, shape);
    const report = checkContract(document, ALL_CAPABILITIES, { headerPrefix: shape.header_prefix });
    const findings = [report, ...report.calls, ...report.events].flatMap((part) => part.findings);
    const breaking = findings.filter(({ severity }) => severity === 'breaking');
    const expected = SHAPE_DIFFERENCES[name]?.breaking ?? [];
    expect(report.compatible).toBe(expected.length === 0);
    expect(breaking.length > 0).toBe(expected.length > 0);
    expect(breaking.map((finding) => finding.name)).toEqual(expect.arrayContaining([...expected]));
  });
});

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

  const differing = Object.entries(SHAPE_DIFFERENCES);
  it.each(differing)('is not used before the field is corrected: %s', async (name, { field, seen }) => {
    const report = await tour(name as ShapeName);
    const texts = complaints(report).map(({ seen: text }) => text);
    expect(texts.join('\n')).toContain(field);
    expect(seenBy(report)).toEqual(seen);
  });
});
