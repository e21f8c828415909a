import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PACKAGE, startTestSimulator, type LedgerLine, type SimulatorClient } from '#test/simulator/support.ts';

type Step =
  | { readonly kind: 'deposit'; readonly amount: string }
  | { readonly kind: 'price'; readonly amount: string }
  | { readonly kind: 'buy'; readonly package_id: number; readonly reference: string; readonly key: string };

const amount = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 1, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: amount.map((value) => ({ kind: 'deposit' as const, amount: value })) },
  { weight: 1, arbitrary: amount.map((value) => ({ kind: 'price' as const, amount: value })) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('buy' as const),
      package_id: fc.constantFrom(PACKAGE, 9003, 9004),
      reference: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      key: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
    }),
  },
);

describe('the ledger', () => {
  it('adds up to the last digit, never falls below zero, and debits a reference at most once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        await using simulator = await startTestSimulator({ sandboxBalance: '0.00' });
        // All at once: whatever their order, the books have to be right.
        const accepted = await Promise.all(steps.map((each) => carryOut(simulator, each)));
        const lines = await simulator.ledger();

        let balance = new Big(0);
        for (const line of lines) {
          balance = line.type === 'debit' ? balance.minus(line.amount) : balance.plus(line.amount);
          expect(line.balance_after).toBe(balance.toFixed(Math.max(2, decimals(balance))));
          expect(balance.gte(0)).toBe(true);
        }
        expect(new Big(await simulator.balance()).eq(balance)).toBe(true);

        const debited = lines.filter(({ type }) => type === 'debit').map(({ external_order_id }) => external_order_id);
        expect(new Set(debited).size).toBe(debited.length);
        const orders = accepted.filter((order) => order !== undefined);
        const idsOf = (kept: typeof orders): string[] => [...new Set(kept.map(({ id }) => id))].toSorted();
        expect(orderIds(lines, 'order')).toEqual(idsOf(orders));
        expect(orderIds(lines, 'refund')).toEqual(idsOf(orders.filter(({ status }) => status === 'failed')));
      }),
      { numRuns: 25 },
    );
  });
});

/** @returns the order that was bought, or bought before. */
async function carryOut(simulator: SimulatorClient, each: Step): Promise<{ id: string; status: string } | undefined> {
  if (each.kind === 'deposit') {
    await simulator.admin.post('/deposits', { environment: 'sandbox', amount: each.amount });
    return undefined;
  }
  if (each.kind === 'price') {
    await simulator.admin.post(`/packages/${PACKAGE}`, { price_for_reseller: each.amount });
    return undefined;
  }
  const { package_id, reference, key } = each;
  const answer = await simulator.order({ package_id, external_order_id: reference }, key);
  return answer.status === 201 ? { id: answer.textAt('id'), status: answer.textAt('status') } : undefined;
}

/** Orders with a movement of this reason, once for each movement. */
function orderIds(lines: readonly LedgerLine[], reason: string): string[] {
  return lines.filter((line) => line.reason === reason).map(({ order_id }) => String(order_id)).toSorted();
}

function decimals(value: Big): number {
  return (value.toFixed().split('.')[1] ?? '').length;
}
