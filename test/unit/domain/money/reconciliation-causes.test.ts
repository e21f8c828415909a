import { describe, expect, it } from 'vitest';
import type { Direction, MovementNames, Purchase } from '#domain/money/books.ts';
import {
  ALL,
  causes,
  credit,
  debit,
  failed,
  judge,
  kinds,
  moved,
  NAMELESS,
  order,
  topup,
  usd,
} from '#test/support/work/books/reconciliation.ts';

describe('the cause of a movement', () => {
  const owner = (names: Partial<MovementNames>, purchases: readonly Purchase[] = ALL) => {
    const [place] = judge({ purchases, movements: [debit(5, 'm', { names: { ...NAMELESS, ...names } })] }).places;
    return place?.kind === 'booked' ? place.attemptId : place?.kind === 'orphan' ? place.reason : place?.kind;
  };

  const foreignVpn = { subscriptionReference: 'vpn-9', orderId: 'so_1' };
  it.each<[string, Partial<MovementNames>, string | null]>([
    ['an order by the service’s id', { orderId: 'so_1' }, 'att_1'],
    ['an order by our reference', { orderReference: 'shop-2' }, 'att_2'],
    ['an order by both', { orderId: 'so_2', orderReference: 'shop-2' }, 'att_2'],
    ['an order by its eSIM alone', { esimId: 'se_2' }, 'att_2'],
    ['a top-up by its id', { topupId: 'st_1' }, 'att_3'],
    ['a top-up that also names the order of its eSIM', { topupId: 'st_1', orderId: 'so_1', esimId: 'se_1' }, 'att_3'],
    ['a top-up that is not ours, of an eSIM that is', { topupId: 'st_9', orderId: 'so_1', esimId: 'se_1' }, 'unknown'],
    ['a subscription by its id', { subscriptionId: 'sv_1' }, 'att_4'],
    ['a subscription by our reference', { subscriptionReference: 'vpn-1' }, 'att_4'],
    ['a subscription that also names an order', { subscriptionId: 'sv_1', orderId: 'so_1' }, 'att_4'],
    ['a subscription that is not ours beside an order that is', foreignVpn, 'unknown'],
    ['an order that is not ours, of an eSIM that is', { orderReference: 'shop-9', esimId: 'se_1' }, 'unknown'],
    ['two orders', { orderId: 'so_1', orderReference: 'shop-2' }, 'ambiguous'],
    ['an eSIM that is not ours', { esimId: 'se_9' }, 'unknown'],
    // Ids of one kind do not match another kind.
    ['a top-up by the id of an order', { topupId: 'so_1' }, 'unknown'],
    ['a subscription by the reference of an order', { subscriptionReference: 'shop-1' }, 'unknown'],
    ['an order by the id of a subscription', { orderId: 'sv_1' }, 'unknown'],
    ['an order by the reference of a subscription', { orderReference: 'vpn-1' }, 'unknown'],
  ])('is found: %s', (_what, names, expected) => {
    expect(owner(names)).toBe(expected);
  });

  it('is not found by an unknown name', () => {
    const unnamed: Purchase = { ...order, reference: null, serviceId: null, serviceEsimId: null };
    for (const names of [{ orderId: 'null' }, { orderReference: 'null' }, { esimId: 'null' }])
      expect(owner(names, [unnamed])).toBe('unknown');
  });

  it('is not found by the eSIM of a top-up, because that name belongs to its order', () => {
    expect(owner({ esimId: 'se_1' }, [topup])).toBe('unknown');
    expect(owner({ esimId: 'se_1' }, [order, topup])).toBe('att_1');
  });

  it('of a bought order is the attempt for its debit, and the refund for a credit', () => {
    const judged = judge({ movements: [debit(5, 'd'), credit(4, 'c')] });
    expect(causes(judged)).toBe('d: attempt att_1, c: refund ord_1');
    expect(judged.findings).toEqual([]);
  });

  it('of a failed order is the attempt for both movements', () => {
    const judged = judge({ purchases: [failed], movements: [debit(5, 'd'), credit(4, 'c')] });
    expect(causes(judged)).toBe('d: attempt att_1, c: attempt att_1');
  });

  it('without names is a deposit or an adjustment by its reason, and otherwise unknown', () => {
    const nameless = (direction: Direction, hoursAgo: number, id: string, reason: string) =>
      moved(direction, hoursAgo, id, { reason, names: NAMELESS });
    const judged = judge({
      movements: [
        nameless('credit', 9, 'd', 'deposit'),
        nameless('debit', 8, 'a', 'adjustment'),
        nameless('credit', 7, 'c', 'correction'),
        nameless('debit', 6, 'f', 'fee'),
        nameless('debit', 5, 'o', 'deposit'),
      ],
    });
    expect(causes(judged)).toBe('d: deposit d, a: adjustment a, c: adjustment c, f: orphan, o: orphan');
    expect(judged.places[0]).toMatchObject({ attemptId: null });
    expect(kinds(judged)).toEqual(['unnamed_movement', 'unnamed_movement']);
  });
});

describe('a movement without a known cause', () => {
  const strange = (direction: Direction, more: Partial<MovementNames>, hoursAgo = 5) => {
    const names = { ...NAMELESS, ...more };
    return judge({ purchases: ALL, movements: [moved(direction, hoursAgo, 'x', { names, reason: 'fee' })] });
  };

  it.each<[Direction, Partial<MovementNames>, string, string]>([
    ['debit', {}, 'unnamed_movement', 'A debit of 2.40 USD names no purchase.'],
    [
      'credit',
      { orderReference: 'by-hand' },
      'orphan_movement',
      'A credit of 2.40 USD names a purchase that is not ours.',
    ],
    [
      'debit',
      { orderId: 'so_1', orderReference: 'shop-2' },
      'orphan_movement',
      'A debit of 2.40 USD names two different purchases of ours.',
    ],
  ])('is reported: a %s with names %j', (direction, names, kind, detail) => {
    const judged = strange(direction, names);
    expect(judged.findings).toStrictEqual([{ kind, detail, movementId: 'x', direction, money: usd('2.40') }]);
    expect(judged.entries).toEqual([]);
  });

  it('waits while it is recent, because its cause may not be known yet', () => {
    expect(causes(strange('debit', {}, 1))).toBe('x: orphan');
    expect(causes(strange('debit', {}, 0.99))).toBe('x: pending');
    expect(strange('debit', {}, 0.99).findings).toEqual([]);
  });
});
