import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES, capabilities } from '#domain/service/capability-profile.ts';
import { DIALECTS } from '#simulator/behaviour/dialect.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { PLAIN, SHAPES, shapeNames } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import type { Environment } from '#simulator/store/store.ts';
import { SHAPE_DIFFERENCES } from '#test/support/shapes.ts';
import { checkContract, readDocument } from '#upstream/contract-check.ts';

const documentOf = (environment: Environment, dialect = DIALECTS.replays, shape = PLAIN) =>
  readDocument(Buffer.from(JSON.stringify(describedService(dialect, environment, new Shaper(shape)))));

describe('the document of the simulator', () => {
  it.each(['sandbox', 'production'] as const)('matches our contract in every call and event: %s', (environment) => {
    const { compatible, calls, events } = checkContract(documentOf(environment), ALL_CAPABILITIES);
    const differing = calls.filter(({ status }) => status !== 'matches').map(({ name }) => name);
    expect({ compatible, differing }).toEqual({
      compatible: true,
      differing: environment === 'production' ? ['simulateEsim'] : [],
    });
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
