import { describe, expect, it } from 'vitest';
import {
  addSums,
  expectedBalance,
  FINDING_CASES,
  findingKinds,
  isFindingCase,
  OPENING,
  slotOf,
  sumsOf,
  type Direction,
  type Purchase,
} from '#domain/money/books.ts';
import type { Outstanding } from '#domain/money/findings.ts';
import type { Money } from '#domain/money/money.ts';
import { eur } from '#test/support/pricing-terms.ts';
import {
  credit,
  debit,
  failed,
  HOUR,
  judge,
  kinds,
  moved,
  NAMELESS,
  NOW,
  order,
  otherOrder,
  placed,
  reported,
  usd,
} from '#test/support/work/books/reconciliation.ts';

/** A row of the journal without work. */
const deposit = (id: string, amount: string): Outstanding => ({
  direction: 'credit',
  money: usd(amount),
  cause: { kind: 'deposit', id },
  recordedAt: NOW - 5 * HOUR,
});

describe('the journal', () => {
  it('gets no second row for a known movement, and no longer awaits it', () => {
    const other = reported(usd('1.00'), { cause: { kind: 'attempt', id: 'att_2' }, recordedAt: NOW });
    const judged = judge({ outstanding: [reported(usd('2.4')), other], movements: [debit(5, 'd')] });
    expect(judged).toMatchObject({ entries: [], findings: [], outstanding: [other] });
  });

  it.each<[string, Direction, Money, [Direction, Money][]]>([
    ['more was debited', 'debit', usd('2.50'), [['debit', usd('0.1')]]],
    ['less was debited', 'debit', usd('2.30'), [['credit', usd('0.1')]]],
    ['more was credited', 'credit', usd('2.50'), [['credit', usd('0.1')]]],
    ['less was credited', 'credit', usd('2.30'), [['debit', usd('0.1')]]],
    [
      'it was another currency',
      'debit',
      eur('2.40'),
      [
        ['credit', usd('2.40')],
        ['debit', eur('2.40')],
      ],
    ],
  ])('is corrected by the difference when %s', (_what, direction, money, corrections) => {
    const outstanding = [reported(usd('2.40'), { direction })];
    const judged = judge({ purchases: [failed], outstanding, movements: [moved(direction, 0.5, 'x', { money })] });
    const cause = { kind: 'adjustment', id: 'x' };
    expect(judged.entries).toEqual(corrections.map(([side, amount]) => ({ direction: side, money: amount, cause })));
    expect(judged.findings).toStrictEqual([
      {
        kind: 'amount_differs',
        comparison: money.currency === 'EUR' ? 'other_currency' : 'differs',
        detail: `The service moved ${money.amount} ${money.currency}; our journal had 2.40 USD.`,
        movementId: 'x',
        direction,
        money,
        work: order.work,
        attemptId: 'att_1',
      },
    ]);
  });

  it('is corrected also for movements without work', () => {
    const movement = credit(5, 'x', { names: NAMELESS, reason: 'deposit', money: usd('90.00') });
    const judged = judge({ outstanding: [deposit('x', '100.00')], movements: [movement] });
    expect(judged.findings).toStrictEqual([
      {
        kind: 'amount_differs',
        comparison: 'differs',
        detail: 'The service moved 90.00 USD; our journal had 100.00 USD.',
        movementId: 'x',
        direction: 'credit',
        money: usd('90.00'),
      },
    ]);
  });

  it('reports a missing movement, after a while and after a complete read', () => {
    expect(judge({ outstanding: [reported(usd('2.40'), { recordedAt: NOW - HOUR })] }).findings).toStrictEqual([
      {
        kind: 'movement_missing',
        detail: 'Our journal has a debit of 2.40 USD for attempt att_1, and the service shows none.',
        direction: 'debit',
        money: usd('2.40'),
        work: order.work,
        attemptId: 'att_1',
      },
    ]);
    expect(judge({ outstanding: [deposit('d', '5.00')] }).findings).toStrictEqual([
      {
        kind: 'movement_missing',
        detail: 'Our journal has a credit of 5.00 USD for deposit d, and the service shows none.',
        direction: 'credit',
        money: usd('5.00'),
      },
    ]);
    expect(judge({ outstanding: [reported(usd('2.40'), { recordedAt: NOW - HOUR + 1 })] }).findings).toEqual([]);
    expect(judge({ outstanding: [reported(usd('2.40'))], complete: false }).findings).toEqual([]);
  });
});

describe('the sums of the books', () => {
  const sum = (direction: Direction, currency: string, amount: string) => ({ direction, currency, sum: amount });

  it('are kept by currency and direction, and expect the journal without rows that no movement shows yet', () => {
    const journal = addSums(
      [sum('debit', 'USD', '2.400000'), sum('credit', 'USD', '100.000000')],
      [sum('debit', 'USD', '0.100000'), sum('debit', 'EUR', '3.000000')],
    );
    expect(journal).toEqual([sum('debit', 'USD', '2.5'), sum('debit', 'EUR', '3'), sum('credit', 'USD', '100')]);
    const sums = sumsOf(journal, [reported(usd('2.4'))], [credit(5, 'c', { money: usd('1') })]);
    expect(sums).toEqual([
      { currency: 'EUR', debits: '3', credits: '0.00', journal: '-3.00', outstanding: '0.00', unmatched: '0.00' },
      { currency: 'USD', debits: '2.5', credits: '100', journal: '97.50', outstanding: '-2.40', unmatched: '1.00' },
    ]);
    const expected = ['EUR', 'USD', 'JPY'].map((currency) => expectedBalance(sums, currency).amount);
    expect(expected).toEqual(['-3', '100.9', '0']);
  });
});

describe('the books', () => {
  it('open a case for money that may be lost, and only one where each run finds it again', () => {
    const cases = findingKinds.filter(isFindingCase).map((kind) => [kind, FINDING_CASES[kind].once]);
    expect(cases).toEqual([
      ['debited_twice', false],
      ['charge_not_refunded', true],
      ['amount_differs', false],
      ['movement_missing', true],
    ]);
  });

  it('know their opening balance by a stored name that no movement has', () => {
    expect(slotOf({ cause: OPENING, direction: 'credit' })).toBe('adjustment opening balance credit');
  });
});

describe('a charge without a purchase', () => {
  const refused: Purchase = { ...order, state: 'refused' };
  const own = placed(debit(9, 'd'), { kind: 'attempt', id: 'att_1' }, 'att_1');

  it.each([failed, refused])('is reported when the attempt is $state', (purchase) => {
    expect(judge({ purchases: [purchase], movements: [debit(1, 'd')] }).findings).toStrictEqual([
      {
        kind: 'charge_not_refunded',
        detail: 'The service keeps 2.40 USD for a failed attempt of order ord_1.',
        movementId: 'd',
        direction: 'debit',
        money: usd('2.40'),
        work: order.work,
        attemptId: 'att_1',
      },
    ]);
  });

  it('is not reported during a check, while it is recent, or for a possible purchase', () => {
    expect(judge({ purchases: [{ ...failed, isOver: false }], movements: [debit(5, 'd')] }).findings).toEqual([]);
    expect(judge({ purchases: [failed], movements: [debit(0.9, 'd')] }).findings).toEqual([]);
    expect(judge({ purchases: [{ ...order, state: 'unknown' }], movements: [debit(5, 'd')] }).findings).toEqual([]);
    expect(judge({ purchases: [failed] }).findings).toEqual([]);
  });

  it('is not reported after its credit, new or booked', () => {
    const back = placed(credit(8, 'c'), { kind: 'attempt', id: 'att_1' }, 'att_1');
    expect(kinds(judge({ purchases: [failed], placed: [own] }))).toEqual(['charge_not_refunded']);
    expect(kinds(judge({ purchases: [failed], placed: [own], movements: [credit(5, 'c')] }))).toEqual([]);
    expect(kinds(judge({ purchases: [failed], placed: [own, back] }))).toEqual([]);
  });

  it('is the debit of the attempt itself, not another movement of it', () => {
    const beside = [
      placed(debit(9, 'x', { money: usd('9.00') }), { kind: 'adjustment', id: 'att_1' }, 'att_1'),
      placed(debit(9, 'y', { money: usd('8.00') }), { kind: 'attempt', id: 'att_0' }, 'att_1'),
    ];
    expect(judge({ purchases: [failed], placed: [...beside, own] }).findings).toMatchObject([{ movementId: 'd' }]);
  });

  it('is reported in the order of the attempts, for any order of the rows', () => {
    const other: Purchase = { ...otherOrder, state: 'failed' };
    const movements = [debit(5, 'b', { names: { ...NAMELESS, orderId: 'so_2' } }), debit(5, 'a')];
    const both = [failed, other];
    for (const purchases of [both, both.toReversed()])
      expect(judge({ purchases, movements }).findings).toMatchObject([{ attemptId: 'att_1' }, { attemptId: 'att_2' }]);
  });
});
