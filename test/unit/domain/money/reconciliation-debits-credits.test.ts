import { describe, expect, it } from 'vitest';
import type { Direction, Movement } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';
import type { Placed } from '#domain/money/reconciliation.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import {
  causes,
  credit,
  debit,
  details,
  failed,
  HOUR,
  judge,
  kinds,
  NOW,
  OF_SUBSCRIPTION,
  order,
  placed,
  reported,
  subscription,
  usd,
  vpnDebit,
} from '#test/support/work/books/reconciliation.ts';

const ofAttempt = (movement: Movement) => placed(movement, { kind: 'attempt', id: 'att_1' }, 'att_1');
const ofAdjustment = (movement: Movement) => placed(movement, { kind: 'adjustment', id: movement.id }, 'att_1');
/** The finding about another movement of the order. */
const onceMore = (kind: 'debited_twice' | 'credited_twice', direction: Direction, detail: string) => ({
  kind,
  detail,
  movementId: 'x',
  direction,
  money: usd('2.40'),
  work: order.work,
  attemptId: 'att_1',
});

describe('a debit', () => {
  it('with the reported amount belongs to the attempt, even if another movement came first', () => {
    const movements = [debit(5, 'a', { money: usd('2.50') }), debit(4, 'b')];
    const judged = judge({ outstanding: [reported(usd('2.40'))], movements });
    expect(causes(judged)).toBe('a: adjustment a, b: attempt att_1');
    expect(kinds(judged)).toEqual(['debited_twice']);
  });

  it('belongs to the attempt when it is the first, without a movement of the reported amount', () => {
    const movements = [debit(4, 'b'), debit(5, 'a', { money: usd('2.50') })];
    for (const outstanding of [[], [reported(usd('9.00'))]])
      expect(causes(judge({ outstanding, movements }))).toBe('a: attempt att_1, b: adjustment b');
  });

  it('with the same time as another is ordered by its id', () => {
    const judged = judge({ movements: [debit(5, 'b'), debit(5, 'a'), debit(5, 'c')] });
    expect(causes(judged)).toBe('a: attempt att_1, b: adjustment b, c: adjustment c');
  });

  it('after a booked one is excessive', () => {
    const judged = judge({ placed: [ofAttempt(debit(9, 'd'))], movements: [debit(5, 'x')] });
    expect(causes(judged)).toBe('x: adjustment x');
    expect(judged.findings).toStrictEqual([
      onceMore('debited_twice', 'debit', 'The service debited 2.40 USD once more for order ord_1.'),
    ]);
    const cause = { kind: 'adjustment', id: 'x' };
    expect(judged.entries).toEqual([{ direction: 'debit', money: usd('2.40'), cause }]);
  });

  it('in excess waits while it is recent, because its cause may still appear', () => {
    const judged = judge({ movements: [debit(5, 'd'), debit(0.5, 'x')] });
    expect(causes(judged)).toBe('d: attempt att_1, x: pending');
    expect(judged.findings).toEqual([]);
  });

  it('of an order is never a later period, at any age', () => {
    expect(causes(judge({ movements: [debit(500, 'd'), debit(100, 'x')] }))).toBe('d: attempt att_1, x: adjustment x');
  });
});

describe('a debit of a subscription', () => {
  const own = placed(vpnDebit(500, 'own'), { kind: 'attempt', id: 'att_4' }, 'att_4');
  const period = (hoursAgo: number, number: number) =>
    placed(vpnDebit(hoursAgo, `p${number}`), { kind: 'subscription_period', id: `vpn_1/${number}` }, 'att_4');
  const later = (movements: readonly Movement[], before: readonly Placed[] = [own], purchase = subscription) =>
    judge({ purchases: [purchase], placed: before, movements });

  it('is its next period, at least the shortest period after any other', () => {
    expect(causes(later([vpnDebit(476, 'x')]))).toBe('x: subscription_period vpn_1/2');
    expect(causes(later([vpnDebit(476.1, 'x')]))).toBe('x: adjustment x');
    expect(causes(later([vpnDebit(100, 'x')], [own, period(124, 2)]))).toBe('x: subscription_period vpn_1/3');
    expect(causes(later([vpnDebit(100, 'x')], [own, period(123, 2)]))).toBe('x: adjustment x');
    const three = later([vpnDebit(300, 'x'), vpnDebit(200, 'y'), vpnDebit(199, 'z')]);
    expect(causes(three)).toBe('x: subscription_period vpn_1/2, y: subscription_period vpn_1/3, z: adjustment z');
  });

  it('may follow after 23 hours, as in a night when the clocks change', () => {
    expect(DEFAULT_POLICY.books.shortestPeriodMs).toBeLessThan(23 * HOUR);
  });

  it('is also a period when it is read late, after a later one', () => {
    expect(causes(later([vpnDebit(600, 'x')]))).toBe('x: subscription_period vpn_1/2');
    expect(causes(later([vpnDebit(510, 'x')]))).toBe('x: adjustment x');
  });

  it('is a period close to an excessive debit, and close to a credit', () => {
    const tooMany = placed(vpnDebit(490, 'e'), { kind: 'adjustment', id: 'e' }, 'att_4');
    expect(causes(later([vpnDebit(476, 'x')], [own, tooMany]))).toBe('x: subscription_period vpn_1/2');
    const back = placed(credit(477, 'c', { names: OF_SUBSCRIPTION }), { kind: 'refund', id: 'vpn_1' }, 'att_4');
    expect(causes(later([vpnDebit(476, 'x')], [own, back]))).toBe('x: subscription_period vpn_1/2');
  });

  it('is excessive after the end of the subscription, and while the subscription is not bought', () => {
    const ended = { ...subscription, endedAt: NOW - 100 * HOUR };
    expect(causes(later([vpnDebit(100, 'x')], [own], ended))).toBe('x: subscription_period vpn_1/2');
    const after = later([vpnDebit(99, 'x')], [own], ended);
    expect(causes(after)).toBe('x: adjustment x');
    expect(details(after)).toEqual([
      'The service debited 2.40 USD once more for VPN subscription vpn_1, which had ended.',
    ]);
    const unbought = { ...subscription, state: 'processing' } as const;
    expect(causes(later([vpnDebit(100, 'x')], [own], unbought))).toBe('x: adjustment x');
  });

  it('later than the paid period waits while it is recent: the end of the subscription may be recorded late', () => {
    const paid = { ...subscription, paidUntil: NOW - 2 * HOUR };
    expect(causes(later([vpnDebit(0.4, 'x')], [own], paid))).toBe('x: pending');
    expect(causes(later([vpnDebit(1.1, 'x')], [own], paid))).toBe('x: subscription_period vpn_1/2');
    expect(causes(later([vpnDebit(1.1, 'x')], [own], { ...paid, endedAt: NOW - 2 * HOUR }))).toBe('x: adjustment x');
    expect(causes(later([vpnDebit(0.4, 'x')], [own], { ...paid, paidUntil: NOW }))).toBe(
      'x: subscription_period vpn_1/2',
    );
  });

  it('in excess mentions the end of the subscription only after that end', () => {
    const ended = { ...subscription, endedAt: NOW - 499 * HOUR };
    for (const purchase of [ended, subscription])
      expect(details(later([vpnDebit(499, 'x')], [own], purchase))).toEqual([
        'The service debited 2.40 USD once more for VPN subscription vpn_1.',
      ]);
  });

  it('is its first one for any reported amount, because later ones may have that amount', () => {
    const cause = { kind: 'attempt', id: 'att_4' } as const;
    const outstanding = [reported(usd('2.40'), { cause, work: subscription.work, attemptId: 'att_4' })];
    const movements = [vpnDebit(300, 'a', { money: usd('1.00') }), vpnDebit(100, 'b')];
    const judged = judge({ purchases: [subscription], outstanding, movements });
    expect(causes(judged)).toBe('a: attempt att_4, b: subscription_period vpn_1/2');
    expect(kinds(judged)).toEqual(['amount_differs']);
  });
});

describe('an amount that is not the expected one', () => {
  const periods = (second: Money) =>
    judge({
      purchases: [subscription],
      movements: [vpnDebit(300, 'a', { money: usd('2.40') }), vpnDebit(100, 'b', { money: second })],
    }).findings.map(({ kind, comparison }) => [kind, comparison]);

  it.each<[string, Money, unknown[]]>([
    ['its price was raised', usd('2.90'), []],
    ['it is in cents', usd('240'), [['amount_differs', 'other_unit']]],
    ['it is in another currency', { amount: '2.40', currency: 'EUR' }, [['amount_differs', 'other_currency']]],
  ])('of a later period, when %s: %j', (_what, second, findings) => {
    expect(periods(second)).toEqual(findings);
  });

  it.each([
    ['2.40', []],
    ['1.00', [['amount_differs', 'differs']]],
    ['0.00', [['amount_differs', 'differs']]],
  ])('of the credit of a failed attempt: %s of 2.40', (amount, findings) => {
    const judged = judge({ purchases: [failed], movements: [debit(9, 'd'), credit(5, 'c', { money: usd(amount) })] });
    expect(causes(judged)).toBe('d: attempt att_1, c: attempt att_1');
    expect(judged.findings.map(({ kind, comparison }) => [kind, comparison])).toEqual(findings);
  });
});

describe('a credit', () => {
  const own = ofAttempt(debit(9, 'd'));
  const excess = ofAdjustment(debit(8, 'e'));
  const refund = placed(credit(7, 'r'), { kind: 'refund', id: 'ord_1' }, 'att_1');

  it('first returns an excessive debit, and is otherwise a refund', () => {
    const later = judge({ placed: [own, excess], movements: [credit(5, 'a'), credit(4, 'b')] });
    expect(causes(later)).toBe('a: adjustment a, b: refund ord_1');
    // Also when it is older than the debit that it returns.
    const older = judge({ movements: [credit(6, 'c'), debit(5, 'd'), debit(4, 'e')] });
    expect(causes(older)).toBe('c: adjustment c, d: attempt att_1, e: adjustment e');
  });

  it('of another amount does not return an excessive debit', () => {
    const before = [own, ofAdjustment(debit(8, 'e', { money: usd('3.20') }))];
    const after = (amount: string) =>
      causes(judge({ placed: before, movements: [credit(5, 'a', { money: usd(amount) })] }));
    expect([after('2.40'), after('3.20')]).toEqual(['a: refund ord_1', 'a: adjustment a']);
  });

  it('of a failed attempt first returns its own debit, then an excessive one', () => {
    const judged = judge({ purchases: [failed], placed: [own, excess], movements: [credit(5, 'a'), credit(4, 'b')] });
    expect(causes(judged)).toBe('a: attempt att_1, b: adjustment b');
    expect(judged.findings).toEqual([]);
  });

  it('is excessive when the refund is booked and nothing is owed', () => {
    for (const more of [[], [excess, ofAdjustment(credit(6, 'f'))]]) {
      const before = [own, refund, ...more];
      const judged = judge({ placed: before, movements: [credit(5, 'x')] });
      expect(causes(judged)).toBe('x: adjustment x');
      expect(judged.findings).toStrictEqual([
        onceMore('credited_twice', 'credit', 'The service credited 2.40 USD once more for order ord_1.'),
      ]);
    }
  });

  it('in excess waits while it is recent', () => {
    expect(causes(judge({ placed: [own, refund], movements: [credit(0.5, 'x')] }))).toBe('x: pending');
  });

  it('that returns an excessive debit is no finding, at any age, after the refund', () => {
    const judged = judge({ placed: [own, refund, excess], movements: [credit(0.5, 'x')] });
    expect(causes(judged)).toBe('x: adjustment x');
    expect(judged.findings).toEqual([]);
  });
});
