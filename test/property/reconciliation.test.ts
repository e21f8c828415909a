import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slotOf, type Entry } from '#domain/books.ts';
import type { Money } from '#domain/money.ts';
import { ATTEMPT_STATES } from '#domain/observation.ts';
import {
  reconcile,
  type Awaited,
  type BooksRules,
  type Judgement,
  type Knowledge,
  type Movement,
  type MovementNames,
  type Purchase,
} from '#domain/reconciliation.ts';
import { WORK_KINDS } from '#domain/work.ts';

const NOW = Date.UTC(2030, 0, 31, 12);
const HOUR = 3_600_000;
const RULES: BooksRules = { graceMs: HOUR, shortestPeriodMs: 24 * HOUR };
const NAMELESS: MovementNames = {
  orderId: null,
  orderReference: null,
  topupId: null,
  subscriptionId: null,
  subscriptionReference: null,
  esimId: null,
};

const money: fc.Arbitrary<Money> = fc.record({
  amount: fc.constantFrom('0.00', '2.40', '2.4', '3.20', '9.99'),
  currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
});
const age = fc.oneof(fc.integer({ min: 0, max: 2 * HOUR }), fc.integer({ min: 0, max: 90 * 24 * HOUR }));

const purchases: fc.Arbitrary<Purchase[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...WORK_KINDS),
    state: fc.constantFrom(...ATTEMPT_STATES),
    isOver: fc.boolean(),
    named: fc.boolean(),
    ended: fc.option(age, { nil: undefined }),
  }),
  { maxLength: 5 },
).map((all) =>
  all.map(({ kind, state, isOver, named, ended }, index): Purchase => ({
    attemptId: `att_${index}`,
    // Some works have two attempts.
    work: { kind, id: `work_${kind}_${index >> 1}` },
    reference: kind === 'topup' ? null : `ref-${index}`,
    serviceId: named ? `svc-${index}` : null,
    serviceEsimId: kind === 'order' && named ? `esim-${index}` : null,
    state,
    isOver,
    endedAt: kind === 'vpn_subscription' && ended !== undefined ? NOW - ended : undefined,
    refundId: `work_${kind}_${index >> 1}`,
  })),
);

const names = fc.record({ of: fc.integer({ min: 0, max: 7 }), by: fc.constantFrom('nothing', 'order', 'orderReference', 'both', 'topup', 'subscription', 'subscriptionReference', 'esim', 'two') })
  .map(({ of, by }): MovementNames => {
    switch (by) {
      case 'nothing':
        return NAMELESS;
      case 'order':
        return { ...NAMELESS, orderId: `svc-${of}` };
      case 'orderReference':
        return { ...NAMELESS, orderReference: `ref-${of}` };
      case 'both':
        return { ...NAMELESS, orderId: `svc-${of}`, orderReference: `ref-${of}` };
      case 'topup':
        return { ...NAMELESS, topupId: `svc-${of}`, esimId: `esim-${of}` };
      case 'subscription':
        return { ...NAMELESS, subscriptionId: `svc-${of}` };
      case 'subscriptionReference':
        return { ...NAMELESS, subscriptionReference: `ref-${of}` };
      case 'esim':
        return { ...NAMELESS, esimId: `esim-${of}` };
      case 'two':
        return { ...NAMELESS, orderId: `svc-${of}`, orderReference: `ref-${(of + 1) % 5}` };
    }
  });

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
  .record({ purchases, movements, told: fc.array(fc.tuple(money, age, fc.constantFrom('debit' as const, 'credit' as const)), { maxLength: 5 }), complete: fc.boolean() })
  .map(({ told, ...rest }) => ({
    ...rest,
    placed: [],
    awaited: rest.purchases.flatMap(({ attemptId, work }, index): Awaited[] => {
      const row = told[index];
      if (row === undefined) return [];
      return [{ money: row[0], recordedAt: NOW - row[1], direction: row[2], cause: { kind: 'attempt', id: attemptId }, work, attemptId }];
    }),
    now: NOW,
  }));

/** What is known once a judgement is written down. */
function afterwards(before: Knowledge, { places, awaited }: Judgement): Knowledge {
  const booked = places.flatMap((place) => (place.kind === 'booked' ? [place] : []));
  return {
    ...before,
    movements: places.flatMap((place) => (place.kind === 'booked' ? [] : [place.movement])),
    placed: [...before.placed, ...booked],
    awaited,
  };
}

function net(entries: readonly Pick<Entry, 'direction' | 'money'>[]): Record<string, string> {
  const sums: Record<string, Big> = { USD: new Big(0), EUR: new Big(0) };
  for (const { direction, money: { amount, currency } } of entries) {
    sums[currency] = sums[currency]!.plus(direction === 'debit' ? `-${amount}` : amount);
  }
  return Object.fromEntries(Object.entries(sums).map(([currency, sum]) => [currency, sum.toFixed(2)]));
}

const plain = ({ places, entries, findings, awaited }: Judgement) => ({ places, entries: entries.map(entryText).toSorted(), findings, awaited: awaited.map(entryText).toSorted() });
const entryText = (entry: Entry) => `${slotOf(entry)} ${new Big(entry.money.amount).toFixed(2)} ${entry.money.currency}`;

describe('rule 7: every movement of the wallet has exactly one cause', () => {
  it('each movement lands in exactly one place, and each place in the books is taken once', () => {
    fc.assert(
      fc.property(knowledges, (known) => {
        const { places, entries } = reconcile(known, RULES);
        expect(places.map(({ movement }) => movement.id).toSorted()).toEqual(known.movements.map(({ id }) => id).toSorted());
        const slots = places.flatMap((place) => (place.kind === 'booked' ? [slotOf({ cause: place.cause, direction: place.movement.direction })] : []));
        expect(new Set(slots).size).toBe(slots.length);
        const rows = [...known.awaited, ...entries].map(slotOf);
        expect(new Set(rows).size).toBe(rows.length);
      }),
    );
  });

  it('the journal, less what awaits its movement, is the sum of what was booked, whatever amounts we were told', () => {
    fc.assert(
      fc.property(knowledges, (known) => {
        const { places, entries, awaited } = reconcile(known, RULES);
        const stillAwaited = new Set(awaited.map(slotOf));
        const journal = [...known.awaited.filter((row) => !stillAwaited.has(slotOf(row))), ...entries];
        expect(net(journal)).toEqual(net(places.flatMap((place) => (place.kind === 'booked' ? [place.movement] : []))));
      }),
    );
  });

  it('what was judged once is not booked again', () => {
    fc.assert(
      fc.property(knowledges, (known) => {
        const first = reconcile(known, RULES);
        const second = reconcile(afterwards(known, first), RULES);
        expect(second.entries).toEqual([]);
        expect(second.places.filter(({ kind }) => kind === 'booked')).toEqual([]);
        expect(second.awaited).toEqual(first.awaited);
      }),
    );
  });

  it('the order in which things are read changes nothing', () => {
    const shuffled = knowledges.chain((known) =>
      fc.record({
        known: fc.constant(known),
        movements: fc.shuffledSubarray([...known.movements], { minLength: known.movements.length }),
        purchases: fc.shuffledSubarray([...known.purchases], { minLength: known.purchases.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ known, ...order }) => {
        expect(plain(reconcile({ ...known, ...order }, RULES))).toEqual(plain(reconcile(known, RULES)));
      }),
    );
  });

  it('nothing young is reported, and nothing is reported as missing while not all was read', () => {
    fc.assert(
      fc.property(knowledges, (known) => {
        const { findings } = reconcile(known, RULES);
        const young = new Set(known.movements.filter(({ occurredAt }) => occurredAt > NOW - RULES.graceMs).map(({ id }) => id));
        const judged = findings.filter(({ kind, movementId }) => kind !== 'amount_differs' && movementId !== undefined && young.has(movementId));
        expect(judged).toEqual([]);
        expect(findings.filter(({ kind }) => kind === 'movement_missing' && !known.complete)).toEqual([]);
      }),
    );
  });
});

const order: Purchase = {
  attemptId: 'att_1',
  work: { kind: 'order', id: 'ord_1' },
  reference: 'shop-1',
  serviceId: 'so_1',
  serviceEsimId: 'se_1',
  state: 'completed',
  isOver: true,
  refundId: 'ord_1',
};
const subscription: Purchase = { ...order, work: { kind: 'vpn_subscription', id: 'vpn_1' }, serviceEsimId: null, refundId: 'vpn_1' };
let serial = 0;
function moved(direction: 'debit' | 'credit', hoursAgo: number, more: Partial<Movement> = {}): Movement {
  serial += 1;
  const subject: MovementNames = { ...NAMELESS, orderId: 'so_1', orderReference: 'shop-1' };
  return { id: `m${serial}`, direction, money: { amount: '2.40', currency: 'USD' }, reason: 'order', occurredAt: NOW - hoursAgo * HOUR, names: subject, ...more };
}
const vpn: MovementNames = { ...NAMELESS, subscriptionId: 'so_1' };
function judge(known: Partial<Knowledge>): Judgement {
  return reconcile({ movements: [], placed: [], purchases: [order], awaited: [], complete: true, now: NOW, ...known }, RULES);
}
const causes = ({ places }: Judgement) => places.map((place) => (place.kind === 'booked' ? `${place.cause.kind} ${place.cause.id}` : place.kind));
const kinds = ({ findings }: Judgement) => findings.map(({ kind }) => kind);

describe('the cause of a movement', () => {
  it('of an order that was bought: its debit is the attempt’s, a credit its refund', () => {
    const judged = judge({ movements: [moved('debit', 5), moved('credit', 4)] });
    expect(causes(judged)).toEqual(['attempt att_1', 'refund ord_1']);
    expect(kinds(judged)).toEqual([]);
  });

  it('of an order that failed: both are the attempt’s', () => {
    const judged = judge({ purchases: [{ ...order, state: 'failed' }], movements: [moved('debit', 5), moved('credit', 4)] });
    expect(causes(judged)).toEqual(['attempt att_1', 'attempt att_1']);
  });

  it('of a second debit is an adjustment, and money that was lost is reported; its credit is no refund', () => {
    const twice = judge({ movements: [moved('debit', 5), moved('debit', 4)] });
    expect(kinds(twice)).toEqual(['debited_twice']);
    const debits = [moved('debit', 5), moved('debit', 4)];
    const judged = judge({ movements: [...debits, moved('credit', 3, { id: 'back' }), moved('credit', 2)] });
    expect(causes(judged)).toEqual(['attempt att_1', `adjustment ${debits[1]!.id}`, 'adjustment back', 'refund ord_1']);
  });

  it('of a later debit of a subscription is its next period, unless it comes within a day or after its end', () => {
    const debits = [800, 799, 80, 40].map((hours) => moved('debit', hours, { names: vpn }));
    const running = judge({ purchases: [subscription], movements: debits });
    expect(causes(running)).toEqual(['attempt att_1', `adjustment ${debits[1]!.id}`, 'subscription_period vpn_1/2', 'subscription_period vpn_1/3']);
    expect(kinds(running)).toEqual(['debited_twice']);
    const ended = judge({ purchases: [{ ...subscription, endedAt: NOW - 60 * HOUR }], movements: debits });
    expect(causes(ended)[3]).toBe(`adjustment ${debits[3]!.id}`);
    expect(ended.findings[1]).toMatchObject({ kind: 'debited_twice', detail: expect.stringContaining('which had ended') });
  });

  it('that names nothing is a deposit or an adjustment where the service says so, and else an orphan', () => {
    const nothing = { names: NAMELESS };
    const judged = judge({
      movements: [
        moved('credit', 9, { ...nothing, id: 'd', reason: 'deposit' }),
        moved('debit', 8, { ...nothing, id: 'a', reason: 'adjustment' }),
        moved('debit', 7, nothing),
        moved('debit', 6, { ...nothing, reason: 'deposit' }),
      ],
    });
    expect(causes(judged)).toEqual(['deposit d', 'adjustment a', 'orphan', 'orphan']);
    expect(kinds(judged)).toEqual(['unnamed_movement', 'unnamed_movement']);
  });

  it('that names somebody else’s order is an orphan, once it is old enough', () => {
    const names = { ...NAMELESS, orderReference: 'by-hand' };
    expect(causes(judge({ movements: [moved('debit', 0.5, { names }), moved('debit', 2, { names })] }))).toEqual(['orphan', 'pending']);
  });

  it('that names two purchases of ours is chosen from for neither', () => {
    const other = { ...order, attemptId: 'att_2', serviceId: 'so_2', reference: 'shop-2', serviceEsimId: null };
    const judged = judge({ purchases: [order, other], movements: [moved('debit', 2, { names: { ...NAMELESS, orderId: 'so_1', orderReference: 'shop-2' } })] });
    expect(judged.places).toMatchObject([{ kind: 'orphan', why: 'ambiguous' }]);
  });

  it('of a top-up that names the order of its eSIM, too, is the top-up', () => {
    const topup: Purchase = { ...order, attemptId: 'att_2', work: { kind: 'topup', id: 'top_1' }, reference: null, serviceId: 'st_1', serviceEsimId: 'se_1' };
    const names = { ...NAMELESS, orderId: 'so_1', topupId: 'st_1' };
    expect(causes(judge({ purchases: [order, topup], movements: [moved('debit', 2, { names })] }))).toEqual(['attempt att_2']);
  });
});

describe('the journal', () => {
  const told = (amount: string, hoursAgo = 5): Awaited => ({
    direction: 'debit',
    money: { amount, currency: 'USD' },
    cause: { kind: 'attempt', id: 'att_1' },
    recordedAt: NOW - hoursAgo * HOUR,
    work: order.work,
    attemptId: 'att_1',
  });

  it('that has the movement already gets no second row', () => {
    expect(judge({ awaited: [told('2.4')], movements: [moved('debit', 5)] })).toMatchObject({ entries: [], findings: [], awaited: [] });
  });

  it('that was told another amount is put right by the difference', () => {
    const debit = moved('debit', 5, { id: 'x', money: { amount: '2.50', currency: 'USD' } });
    const judged = judge({ awaited: [told('2.40')], movements: [debit] });
    expect(judged.entries).toEqual([{ direction: 'debit', money: { amount: '0.1', currency: 'USD' }, cause: { kind: 'adjustment', id: 'x' } }]);
    expect(kinds(judged)).toEqual(['amount_differs']);
  });

  it('whose movement does not show is reported, after a while and when all was read', () => {
    expect(kinds(judge({ awaited: [told('2.40')] }))).toEqual(['movement_missing']);
    expect(kinds(judge({ awaited: [told('2.40', 0.5)] }))).toEqual([]);
    expect(kinds(judge({ awaited: [told('2.40')], complete: false }))).toEqual([]);
  });

  it('gets the late debit of what came to nothing, and a person is told while nothing came back', () => {
    const failed: Purchase = { ...order, state: 'failed' };
    expect(kinds(judge({ purchases: [failed], movements: [moved('debit', 5)] }))).toEqual(['debited_for_nothing']);
    expect(kinds(judge({ purchases: [{ ...failed, isOver: false }], movements: [moved('debit', 5)] }))).toEqual([]);
    expect(kinds(judge({ purchases: [failed], movements: [moved('debit', 5), moved('credit', 4)] }))).toEqual([]);
  });
});
