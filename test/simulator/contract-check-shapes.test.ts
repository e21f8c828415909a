import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/capabilities.ts';
import { checkContract, readDocument } from '#upstream/contract-check.ts';
import { DIALECTS } from '#simulator/dialect.ts';
import { describedService } from '#simulator/openapi.ts';
import { SHAPES, shapeNames, type ShapeName } from '#simulator/shape/shape.ts';
import { Shaper } from '#simulator/shape/shaper.ts';

/** What the product cannot work with, by the fields that are to be named. */
const DIFFERENT: Readonly<Partial<Record<ShapeName, readonly string[]>>> = {
  minor_units: ['data[].price_for_reseller', 'price_for_reseller', 'balance', 'data[].amount'],
  other_words: ['status', 'data.status'],
  no_esim_id: ['esim_id', 'data[].esim_id', 'data.esim_id'],
  no_vpn_access: ['access', 'data[].access'],
  no_references: ['data[].external_order_id', 'data[].external_subscription_id'],
  no_transaction_ids: ['data[].order_id', 'data[].topup_id', 'data[].vpn_subscription_id'],
  no_esim_times: ['installed_at', 'activated_at'],
  ledger_like: ['data[].price_for_reseller', 'status'],
};

describe('the document of a service of the shape', () => {
  it.each(shapeNames)('%s is compatible, or names the fields that the product cannot work with', (name) => {
    const shape = SHAPES[name];
    const described = describedService(DIALECTS.replays, 'sandbox', new Shaper(shape));
    const document = readDocument(Buffer.from(JSON.stringify(described)));
    const report = checkContract(document, ALL_CAPABILITIES, { headerPrefix: shape.header_prefix });
    const findings = [report, ...report.calls, ...report.events].flatMap((part) => part.findings);
    const breaking = findings.filter(({ severity }) => severity === 'breaking');
    const expected = DIFFERENT[name] ?? [];
    expect(report.compatible).toBe(expected.length === 0);
    expect(breaking.length > 0).toBe(expected.length > 0);
    expect(breaking.map((finding) => finding.name)).toEqual(expect.arrayContaining([...expected]));
  });
});
