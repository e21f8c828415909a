import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addSums,
  CAUSE_KINDS,
  expectedBalance,
  slotOf,
  sumsOf,
  type Entry,
  type Movement,
  type MovementNames,
  type Purchase,
} from '#domain/money/books.ts';
import type { Outstanding } from '#domain/money/findings.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import { reconcile, type Judgement, type Knowledge } from '#domain/money/reconciliation.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { assertForAll } from '#test/support/for-all.ts';
import { HOUR, NAMELESS, NOW, RULES } from '#test/support/work/books/reconciliation.ts';

const money: fc.Arbitrary<Money> = fc.record({
  amount: fc.constantFrom('0.00', '2.40', '2.4', '3.20', '9.99'),
  currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
});
const age = fc.oneof(fc.integer({ min: 0, max: 2 * HOUR }), fc.integer({ min: 0, max: 90 * 24 * HOUR }));

const purchases: fc.Arbitrary<Purchase[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...WORK_KINDS),
      state: fc.constantFrom(...ATTEMPT_STATES),
      isOver: fc.boolean(),
      named: fc.boolean(),
      ended: fc.option(age, { nil: undefined }),
    }),
    { maxLength: 5 },
  )
  .map((all) =>
    all.map(({ kind, state, isOver, named, ended }, index): Purchase => ({
      attemptId: `att_${index}`,
      // Some work has two attempts.
      work: { kind, id: `work_${kind}_${index >> 1}` },
      reference: kind === 'topup' ? null : `ref-${index}`,
      serviceId: named ? `svc-${index}` : null,
      serviceEsimId: kind === 'order' && named ? `esim-${index}` : null,
      state,
      isOver,
      endedAt: kind === 'vpn_subscription' && ended !== undefined ? NOW - ended : undefined,
    })),
  );

/** How a movement may name a purchase, by the number of the purchase. */
const NAMINGS: readonly ((of: number) => Partial<MovementNames>)[] = [
  () => ({}),
  (of) => ({ orderId: `svc-${of}` }),
  (of) => ({ orderReference: `ref-${of}` }),
  (of) => ({ orderId: `svc-${of}`, orderReference: `ref-${of}` }),
  (of) => ({ topupId: `svc-${of}`, esimId: `esim-${of}` }),
  (of) => ({ subscriptionId: `svc-${of}` }),
  (of) => ({ subscriptionReference: `ref-${of}` }),
  (of) => ({ esimId: `esim-${of}` }),
  // Two different ones.
  (of) => ({ orderId: `svc-${of}`, orderReference: `ref-${(of + 1) % 5}` }),
];
const names = fc
  .record({ of: fc.integer({ min: 0, max: 7 }), by: fc.constantFrom(...NAMINGS) })
  .map(({ of, by }): MovementNames => ({ ...NAMELESS, ...by(of) }));

const movements: fc.Arbitrary<Movement[]> = fc
  .array(
    fc.record({
      direction: fc.constantFrom('debit' as const, 'credit' as const),
      money,
      reason: fc.constantFrom('order', 'refund', 'deposit', 'adjustment', 'fee'),
      age,
      names,
    }),
    { maxLength: 14 },
  )
  .map((all) => all.map(({ age: ms, ...rest }, index) => ({ ...rest, id: `mv-${index}`, occurredAt: NOW - ms })));

const knowledges: fc.Arbitrary<Knowledge> = fc
  .record({
    purchases,
    movements,
    reported: fc.array(fc.tuple(money, age, fc.constantFrom('debit' as const, 'credit' as const)), { maxLength: 5 }),
    complete: fc.boolean(),
  })
  .map(({ reported, ...rest }) => ({
    ...rest,
    placed: [],
    outstanding: rest.purchases.flatMap(({ attemptId, work }, index): Outstanding[] => {
      const row = reported[index];
      if (row === undefined) return [];
      return [
        {
          money: row[0],
          recordedAt: NOW - row[1],
          direction: row[2],
          cause: { kind: 'attempt', id: attemptId },
          work,
          attemptId,
        },
      ];
    }),
    now: NOW,
  }));

/** The knowledge after a stored judgement. */
function afterwards(before: Knowledge, { places, outstanding }: Judgement): Knowledge {
  const booked = places.flatMap((place) => (place.kind === 'booked' ? [place] : []));
  return {
    ...before,
    movements: places.flatMap((place) => (place.kind === 'booked' ? [] : [place.movement])),
    placed: [...before.placed, ...booked],
    outstanding,
  };
}

function net(entries: readonly Pick<Entry, 'direction' | 'money'>[]): Record<string, string> {
  const sums: Record<string, Big> = { USD: new Big(0), EUR: new Big(0) };
  for (const { direction, money } of entries) {
    const signed = direction === 'debit' ? `-${money.amount}` : money.amount;
    sums[money.currency] = sums[money.currency]!.plus(signed);
  }
  return Object.fromEntries(Object.entries(sums).map(([currency, sum]) => [currency, sum.toFixed(2)]));
}

const plain = ({ places, entries, findings, outstanding }: Judgement) => ({
  places,
  entries: entries.map(entryText).toSorted(),
  findings,
  outstanding: outstanding.map(entryText).toSorted(),
});
const entryText = (entry: Entry) =>
  `${slotOf(entry)} ${new Big(entry.money.amount).toFixed(2)} ${entry.money.currency}`;

describe('rule 7: every movement of the wallet has exactly one cause', () => {
  it('each movement has exactly one place, and each place of the books is used once', () => {
    assertForAll(knowledges, (known) => {
      const { places, entries } = reconcile(known, RULES);
      const placed = places.map(({ movement }) => movement.id);
      expect(placed.toSorted()).toEqual(known.movements.map(({ id }) => id).toSorted());
      const slots = places.flatMap((place) =>
        place.kind === 'booked' ? [slotOf({ cause: place.cause, direction: place.movement.direction })] : [],
      );
      expect(new Set(slots).size).toBe(slots.length);
      const rows = [...known.outstanding, ...entries];
      expect(new Set(rows.map(slotOf)).size).toBe(rows.length);
      for (const { cause } of rows) expect(CAUSE_KINDS).toContain(cause.kind);
    });
  });

  it('the expected balance is the sum of all movements, for any reported amounts', () => {
    assertForAll(knowledges, (known) => {
      const { places, entries, outstanding } = reconcile(known, RULES);
      const rows = [...known.outstanding, ...entries].map(({ direction, money: { amount, currency } }) => [
        { direction, currency, sum: amount },
      ]);
      const unmatched = places.flatMap((place) => (place.kind === 'booked' ? [] : [place.movement]));
      const sums = sumsOf(addSums(...rows), outstanding, unmatched);
      for (const [currency, amount] of Object.entries(net(known.movements)))
        expect(equalMoney(expectedBalance(sums, currency), { amount, currency })).toBe(true);
    });
  });

  it('a booked movement is not booked again', () => {
    assertForAll(knowledges, (known) => {
      const first = reconcile(known, RULES);
      const second = reconcile(afterwards(known, first), RULES);
      expect(second.entries).toEqual([]);
      expect(second.places.filter(({ kind }) => kind === 'booked')).toEqual([]);
      expect(second.outstanding).toEqual(first.outstanding);
    });
  });

  it('the order of the rows changes nothing', () => {
    const shuffled = knowledges.chain((known) =>
      fc.record({
        known: fc.constant(known),
        movements: fc.shuffledSubarray([...known.movements], { minLength: known.movements.length }),
        purchases: fc.shuffledSubarray([...known.purchases], { minLength: known.purchases.length }),
      }),
    );
    assertForAll(shuffled, ({ known, ...order }) => {
      expect(plain(reconcile({ ...known, ...order }, RULES))).toEqual(plain(reconcile(known, RULES)));
    });
  });

  it('no recent movement is reported, and no missing one after an incomplete read', () => {
    assertForAll(knowledges, (known) => {
      const { findings } = reconcile(known, RULES);
      const recent = known.movements.filter(({ occurredAt }) => occurredAt > NOW - RULES.graceMs);
      const young = new Set(recent.map(({ id }) => id));
      const judged = findings.filter(
        ({ kind, movementId }) => kind !== 'amount_differs' && movementId !== undefined && young.has(movementId),
      );
      expect(judged).toEqual([]);
      expect(findings.filter(({ kind }) => kind === 'movement_missing' && !known.complete)).toEqual([]);
    });
  });
});
