import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  forecastRefund,
  judgeRefundConditions,
  REFUND_CONDITIONS,
  type RefundEvidence,
} from '#domain/cancellation/refund-conditions.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const reading = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof(
    fc.record({ ok: fc.constant(true as const), value, asOf: time }),
    fc.record({ ok: fc.constant(false as const), detail: fc.constant('It could not be read.'), mayPass: fc.boolean() }),
  );
const facts: fc.Arbitrary<RefundEvidence> = fc.record({
  usage: reading(fc.record({ dataUsedMb: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 10_000, noNaN: true })) })),
  installation: reading(
    fc.record({ installedAt: fc.option(time, { nil: undefined }), activatedAt: fc.option(time, { nil: undefined }) }),
  ),
  topups: reading(fc.record({ completed: fc.nat({ max: 3 }) })),
  debit: reading(fc.record({ found: fc.boolean() })),
});

describe('the conditions of a refund', () => {
  it('are the five of the specification, each with a result and a sentence', () => {
    assertForAll(facts, (each) => {
      const conditions = judgeRefundConditions(each);
      expect(conditions.map(({ name }) => name)).toEqual([...REFUND_CONDITIONS]);
      for (const { result, evidence, asOf } of conditions) {
        expect(evidence.length).toBeGreaterThan(5);
        expect(asOf === undefined).toBe(result === 'unknown');
      }
    });
  });

  it('forecast a refund only when all were read and pass', () => {
    assertForMany(2_000, facts, (each) => {
      const all =
        each.usage.ok &&
        each.usage.value.dataUsedMb === 0 &&
        each.installation.ok &&
        each.installation.value.installedAt === undefined &&
        each.installation.value.activatedAt === undefined &&
        each.topups.ok &&
        each.topups.value.completed === 0 &&
        each.debit.ok &&
        each.debit.value.found;
      expect(forecastRefund(judgeRefundConditions(each)) === 'refund_expected').toBe(all);
    });
  });

  it('with one failure forecast no refund, also with unreadable ones', () => {
    assertForAll(facts, (each) => {
      const used = { ...each, usage: { ok: true as const, value: { dataUsedMb: 1 }, asOf: 0 } };
      expect(forecastRefund(judgeRefundConditions(used))).toBe('no_refund_expected');
    });
  });

  const at = Date.UTC(2030, 0, 31, 12);
  const read = { ok: true, asOf: at } as const;
  const used = (installedAt?: number, activatedAt?: number) => ({
    installation: { ...read, value: { installedAt, activatedAt } },
  });
  const untouched: RefundEvidence = {
    usage: { ...read, value: { dataUsedMb: 0 } },
    ...used(),
    topups: { ...read, value: { completed: 0 } },
    debit: { ...read, value: { found: true } },
  };

  it('without a failure and with an unreadable one are unknown, with the reason', () => {
    const detail = 'this service has no call for it (esim_usage).';
    const conditions = judgeRefundConditions({ ...untouched, usage: { ok: false, detail, mayPass: false } });
    expect(forecastRefund(conditions)).toBe('unknown');
    expect(conditions[0]).toEqual({ name: 'usage_is_zero', result: 'unknown', evidence: detail, asOf: undefined });
  });

  it('all pass for an unused eSIM, with their evidence', () => {
    const conditions = judgeRefundConditions(untouched);
    expect(forecastRefund(conditions)).toBe('refund_expected');
    expect(conditions).toEqual([
      { name: 'usage_is_zero', result: 'pass', evidence: 'No data was used.', asOf: at },
      { name: 'never_installed', result: 'pass', evidence: 'It was never installed.', asOf: at },
      { name: 'never_activated', result: 'pass', evidence: 'It was never activated.', asOf: at },
      { name: 'no_completed_topup', result: 'pass', evidence: 'No top-up of it is completed.', asOf: at },
      { name: 'debit_verified', result: 'pass', evidence: 'The wallet shows what it cost.', asOf: at },
    ]);
  });

  it.each<[Partial<RefundEvidence>, string, string]>([
    [{ usage: { ...read, value: { dataUsedMb: 0.5 } } }, 'usage_is_zero', '0.5 MB were used.'],
    [used(at), 'never_installed', 'It was installed at 2030-01-31T12:00:00.000Z.'],
    [used(undefined, at), 'never_activated', 'It was activated at 2030-01-31T12:00:00.000Z.'],
    [{ topups: { ...read, value: { completed: 2 } } }, 'no_completed_topup', 'It has 2 completed top-ups.'],
    [{ topups: { ...read, value: { completed: 1 } } }, 'no_completed_topup', 'It has 1 completed top-up.'],
    [{ debit: { ...read, value: { found: false } } }, 'debit_verified', 'The wallet does not show what it cost.'],
  ])('%j fails alone and excludes a refund', (change, name, evidence) => {
    const conditions = judgeRefundConditions({ ...untouched, ...change });
    const unmet = conditions.filter(({ result }) => result !== 'pass');
    expect(unmet).toEqual([{ name, result: 'fail', evidence, asOf: at }]);
    expect(forecastRefund(conditions)).toBe('no_refund_expected');
  });

  it('forecast no refund for an eSIM that is already cancelled', () => {
    const conditions = judgeRefundConditions(untouched);
    expect(forecastRefund(conditions, 'available')).toBe('refund_expected');
    expect(forecastRefund(conditions, 'cancelled')).toBe('no_refund_expected');
  });
});
