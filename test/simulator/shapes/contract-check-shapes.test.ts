import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { DIALECTS } from '#simulator/behaviour/dialect.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { SHAPES, shapeNames } from '#simulator/shapes/shape.ts';
import { Shaper } from '#simulator/shapes/shaper.ts';
import { SHAPE_DIFFERENCES } from '#test/support/shapes.ts';
import { checkContract, readDocument } from '#upstream/contract-check.ts';

describe('the document of a service of the shape', () => {
  it.each(shapeNames)('%s is compatible, or names the fields that the product cannot use', (name) => {
    const shape = SHAPES[name];
    const described = describedService(DIALECTS.replays, 'sandbox', new Shaper(shape));
    const document = readDocument(Buffer.from(JSON.stringify(described)));
    const report = checkContract(document, ALL_CAPABILITIES, { headerPrefix: shape.header_prefix });
    const findings = [report, ...report.calls, ...report.events].flatMap((part) => part.findings);
    const breaking = findings.filter(({ severity }) => severity === 'breaking');
    const expected = SHAPE_DIFFERENCES[name]?.breaking ?? [];
    expect(report.compatible).toBe(expected.length === 0);
    expect(breaking.length > 0).toBe(expected.length > 0);
    expect(breaking.map((finding) => finding.name)).toEqual(expect.arrayContaining([...expected]));
  });
});
