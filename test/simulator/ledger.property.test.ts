import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PACKAGE, startTestSimulator, type LedgerLine, type SimulatorClient } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

type Step =
  | { readonly kind: 'deposit' | 'price'; readonly amount: string }
  | { readonly kind: 'buy'; readonly package_id: number; readonly reference: string; readonly key: string }
  | { readonly kind: 'vpn'; readonly vpn_plan_id: number; readonly reference: string; readonly key: string }
  | { readonly kind: 'topup'; readonly esim: number; readonly package_id: number; readonly key: string }
  | { readonly kind: 'cancel'; readonly esim: number; readonly key: string }
  | { readonly kind: 'use'; readonly esim: number };

const amount = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);

const ESIMS = 2;
const kind = <Kind extends Step['kind']>(name: Kind) => fc.constant(name);
const packages = fc.constantFrom(PACKAGE, 9003, 9004);
const plans = fc.constantFrom(301, 393, 394);
const recharges = fc.constantFrom(PACKAGE, PACKAGE, 1004, 9003, 9004);
const reference = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
// Few values, so that operations share them.
const key = fc.nat({ max: 39 }).map(String);
const esim = fc.nat({ max: ESIMS - 1 });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('deposit' as const, 'price' as const), amount }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('buy'), package_id: packages, reference, key }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('vpn'), vpn_plan_id: plans, reference, key }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('topup'), esim, package_id: recharges, key }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('cancel'), esim, key }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('use'), esim }) },
);

describe('the ledger', () => {
  it('adds up exactly, never falls below zero, and has one movement for each sale and refund', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), async (steps) => {
        await using simulator = await startTestSimulator({ sandboxBalance: '20.00' });
        const esims: string[] = [];
        for (let index = 0; index < ESIMS; index += 1) esims.push(await simulator.esim());
        // All at once: the ledger must be correct in every order.
        const answers = await Promise.all(steps.map((each) => carryOut(simulator, esims, each)));
        const lines = await simulator.ledger();
        expectSum(lines, await simulator.balance());

        const sold = answers.filter((answer) => answer.status === 201 && answer.at('price_for_reseller') !== undefined);
        const debited = lines
          .filter(({ type }) => type === 'debit')
          .slice(ESIMS)
          .map(subjectOf);
        expect(debited.toSorted()).toEqual(idsOf(sold));
        const failed = sold.filter((answer) => answer.at('status') === 'failed');
        const refunds = answers.filter((answer) => answer.at('refund', 'status') === 'completed');
        const credited = lines.filter(({ reason }) => reason === 'refund').map(subjectOf);
        expect(credited.toSorted()).toEqual([...idsOf(failed), ...idsOf(refunds, 'refund')].toSorted());

        // A debit is refunded at most once, and never after a recharge of its eSIM.
        const refunded = lines.filter(({ refund_id }) => refund_id !== null);
        expect(new Set(refunded.map(({ order_id }) => order_id)).size).toBe(refunded.length);
        const completed = sold.filter((answer) => answer.at('status') === 'completed');
        const recharged = new Set(completed.map((answer) => answer.at('esim_id')));
        expect(refunded.filter(({ esim_id }) => recharged.has(esim_id))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

async function carryOut(simulator: SimulatorClient, esims: readonly string[], each: Step): Promise<HttpAnswer> {
  switch (each.kind) {
    case 'deposit':
      return simulator.admin.post('/deposits', { environment: 'sandbox', amount: each.amount });
    case 'price':
      return simulator.admin.post(`/packages/${PACKAGE}`, { price_for_reseller: each.amount });
    case 'buy':
      return simulator.order({ package_id: each.package_id, external_order_id: each.reference }, each.key);
    case 'vpn':
      return simulator.orderVpn({ vpn_plan_id: each.vpn_plan_id, external_subscription_id: each.reference }, each.key);
    case 'topup':
      return simulator.topUp(esims[each.esim] ?? '', each.package_id, each.key);
    case 'cancel':
      return simulator.cancel(esims[each.esim] ?? '', each.key);
    case 'use':
      return simulator.simulate(esims[each.esim] ?? '', 'active');
  }
}

function expectSum(lines: readonly LedgerLine[], shown: string): void {
  let balance = new Big(0);
  for (const line of lines) {
    balance = line.type === 'debit' ? balance.minus(line.amount) : balance.plus(line.amount);
    expect(line.balance_after).toBe(balance.toFixed(Math.max(2, decimals(balance))));
    expect(balance.gte(0)).toBe(true);
  }
  expect(new Big(shown).eq(balance)).toBe(true);
}

/** The subject of a movement. */
function subjectOf(line: LedgerLine): string {
  return line.refund_id ?? line.topup_id ?? line.vpn_subscription_id ?? String(line.order_id);
}

/** The distinct ids in answers; a repeated key repeats its answer. */
function idsOf(answers: readonly HttpAnswer[], ...path: readonly string[]): string[] {
  return [...new Set(answers.map((answer) => answer.textAt(...path, 'id')))].toSorted();
}

function decimals(value: Big): number {
  return (value.toFixed().split('.')[1] ?? '').length;
}
