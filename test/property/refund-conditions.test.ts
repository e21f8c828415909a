import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forecastRefund, judgeRefundConditions, REFUND_CONDITIONS, type RefundFacts } from '#domain/refund-conditions.ts';

const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const reading = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof(
    fc.record({ ok: fc.constant(true as const), value, asOf: time }),
    fc.record({ ok: fc.constant(false as const), detail: fc.constant('It could not be read.'), mayPass: fc.boolean() }),
  );
const facts: fc.Arbitrary<RefundFacts> = fc.record({
  usage: reading(fc.record({ dataUsedMb: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 10_000, noNaN: true })) })),
  installation: reading(fc.record({ installedAt: fc.option(time, { nil: undefined }), activatedAt: fc.option(time, { nil: undefined }) })),
  topups: reading(fc.record({ completed: fc.nat({ max: 3 }) })),
  debit: reading(fc.record({ found: fc.boolean() })),
});

describe('the conditions of a refund', () => {
  it('are the five of the specification, each with a result and a sentence [spec: refund.condition.*]', () => {
    fc.assert(
      fc.property(facts, (each) => {
        const conditions = judgeRefundConditions(each);
        expect(conditions.map(({ name }) => name)).toEqual([...REFUND_CONDITIONS]);
        for (const { result, evidence, asOf } of conditions) {
          expect(evidence.length).toBeGreaterThan(5);
          expect(asOf === undefined).toBe(result === 'unknown');
        }
      }),
    );
  });

  it('forecast a refund only when everything was read and all of it passes', () => {
    fc.assert(
      fc.property(facts, (each) => {
        const all =
          each.usage.ok && each.usage.value.dataUsedMb === 0 &&
          each.installation.ok && each.installation.value.installedAt === undefined && each.installation.value.activatedAt === undefined &&
          each.topups.ok && each.topups.value.completed === 0 &&
          each.debit.ok && each.debit.value.found;
        expect(forecastRefund(judgeRefundConditions(each)) === 'refund_expected').toBe(all);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of which one fails forecast no refund, whatever else could not be read', () => {
    fc.assert(
      fc.property(facts, (each) => {
        const used = { ...each, usage: { ok: true as const, value: { dataUsedMb: 1 }, asOf: 0 } };
        expect(forecastRefund(judgeRefundConditions(used))).toBe('no_refund_expected');
      }),
    );
  });

  it('of which none fails and one could not be read are unknown, and say why', () => {
    const read = { ok: true, asOf: 0 } as const;
    const unread: RefundFacts = {
      usage: { ok: false, detail: 'this service has no call for it (esim_usage).', mayPass: false },
      installation: { ...read, value: { installedAt: undefined, activatedAt: undefined } },
      topups: { ...read, value: { completed: 0 } },
      debit: { ...read, value: { found: true } },
    };
    const conditions = judgeRefundConditions(unread);
    expect(forecastRefund(conditions)).toBe('unknown');
    expect(conditions[0]).toEqual({ name: 'usage_is_zero', result: 'unknown', evidence: 'this service has no call for it (esim_usage).', asOf: undefined });
  });
});
