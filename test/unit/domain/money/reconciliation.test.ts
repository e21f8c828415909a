import { describe, expect, it } from 'vitest';
import type { Cause, Direction } from '#domain/money/books.ts';
import type { Outstanding } from '#domain/money/findings.ts';
import type { Money } from '#domain/money/money.ts';
import type { Movement, MovementNames, Purchase } from '#domain/money/movements.ts';
import {
  reconcile,
  type BooksRules,
  type Judgement,
  type Knowledge,
  type Placed,
} from '#domain/money/reconciliation.ts';

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
const OF_ORDER: MovementNames = { ...NAMELESS, orderId: 'so_1', orderReference: 'shop-1' };
const OF_SUBSCRIPTION: MovementNames = { ...NAMELESS, subscriptionId: 'sv_1' };

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
const failed: Purchase = { ...order, state: 'failed' };
const otherOrder: Purchase = {
  ...order,
  attemptId: 'att_2',
  work: { kind: 'order', id: 'ord_2' },
  reference: 'shop-2',
  serviceId: 'so_2',
  serviceEsimId: 'se_2',
  refundId: 'ord_2',
};
const topup: Purchase = {
  ...order,
  attemptId: 'att_3',
  work: { kind: 'topup', id: 'top_1' },
  reference: null,
  serviceId: 'st_1',
  serviceEsimId: 'se_1',
  refundId: 'top_1',
};
const subscription: Purchase = {
  ...order,
  attemptId: 'att_4',
  work: { kind: 'vpn_subscription', id: 'vpn_1' },
  reference: 'vpn-1',
  serviceId: 'sv_1',
  serviceEsimId: null,
  refundId: 'vpn_1',
};
const ALL = [order, otherOrder, topup, subscription];

const usd = (amount: string): Money => ({ amount, currency: 'USD' });

/** A movement with the price of an order, this many hours ago. */
function moved(direction: Direction, hoursAgo: number, id: string, more: Partial<Movement> = {}): Movement {
  return {
    id,
    direction,
    money: usd('2.40'),
    reason: 'order',
    occurredAt: NOW - hoursAgo * HOUR,
    names: OF_ORDER,
    ...more,
  };
}
const debit = (hoursAgo: number, id: string, more?: Partial<Movement>) => moved('debit', hoursAgo, id, more);
const credit = (hoursAgo: number, id: string, more?: Partial<Movement>) => moved('credit', hoursAgo, id, more);
const vpnDebit = (hoursAgo: number, id: string, more: Partial<Movement> = {}) =>
  debit(hoursAgo, id, { names: OF_SUBSCRIPTION, ...more });

function reported(money: Money, more: Partial<Outstanding> = {}): Outstanding {
  return {
    direction: 'debit',
    money,
    cause: { kind: 'attempt', id: 'att_1' },
    recordedAt: NOW - 5 * HOUR,
    work: order.work,
    attemptId: 'att_1',
    ...more,
  };
}
const placed = (movement: Movement, cause: Cause, attemptId: string | null): Placed => ({ movement, cause, attemptId });

function judge(known: Partial<Knowledge>): Judgement {
  return reconcile(
    { movements: [], placed: [], purchases: [order], outstanding: [], complete: true, now: NOW, ...known },
    RULES,
  );
}
/** The result for each movement, by its id, the oldest first. */
const causes = ({ places }: Judgement) =>
  places.map(
    (place) =>
      `${place.movement.id}: ${place.kind === 'booked' ? `${place.cause.kind} ${place.cause.id}` : place.kind}`,
  );
const kinds = ({ findings }: Judgement) => findings.map(({ kind }) => kind);
const details = ({ findings }: Judgement) => findings.map(({ detail }) => detail);

describe('the cause of a movement', () => {
  const owner = (names: Partial<MovementNames>, purchases: readonly Purchase[] = ALL) => {
    const [place] = judge({ purchases, movements: [debit(5, 'm', { names: { ...NAMELESS, ...names } })] }).places;
    return place?.kind === 'booked' ? place.attemptId : place?.kind === 'orphan' ? place.reason : place?.kind;
  };

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
    [
      'a subscription that is not ours beside an order that is',
      { subscriptionReference: 'vpn-9', orderId: 'so_1' },
      'unknown',
    ],
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
    expect(causes(judged)).toEqual(['d: attempt att_1', 'c: refund ord_1']);
    expect(judged.findings).toEqual([]);
  });

  it('of a failed order is the attempt for both movements', () => {
    expect(causes(judge({ purchases: [failed], movements: [debit(5, 'd'), credit(4, 'c')] }))).toEqual([
      'd: attempt att_1',
      'c: attempt att_1',
    ]);
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
    expect(causes(judged)).toEqual(['d: deposit d', 'a: adjustment a', 'c: adjustment c', 'f: orphan', 'o: orphan']);
    expect(judged.places[0]).toMatchObject({ attemptId: null });
    expect(kinds(judged)).toEqual(['unnamed_movement', 'unnamed_movement']);
  });
});

describe('a debit', () => {
  it('with the reported amount belongs to the attempt, even if another movement came first', () => {
    const judged = judge({
      outstanding: [reported(usd('2.40'))],
      movements: [debit(5, 'a', { money: usd('2.50') }), debit(4, 'b')],
    });
    expect(causes(judged)).toEqual(['a: adjustment a', 'b: attempt att_1']);
    expect(kinds(judged)).toEqual(['debited_twice']);
  });

  it('belongs to the attempt when it is the first, without a movement of the reported amount', () => {
    const movements = [debit(4, 'b'), debit(5, 'a', { money: usd('2.50') })];
    expect(causes(judge({ movements }))).toEqual(['a: attempt att_1', 'b: adjustment b']);
    expect(causes(judge({ outstanding: [reported(usd('9.00'))], movements }))).toEqual([
      'a: attempt att_1',
      'b: adjustment b',
    ]);
  });

  it('with the same time as another is ordered by its id', () => {
    expect(causes(judge({ movements: [debit(5, 'b'), debit(5, 'a'), debit(5, 'c')] }))).toEqual([
      'a: attempt att_1',
      'b: adjustment b',
      'c: adjustment c',
    ]);
  });

  it('after a booked one is excessive', () => {
    const judged = judge({
      placed: [placed(debit(9, 'd'), { kind: 'attempt', id: 'att_1' }, 'att_1')],
      movements: [debit(5, 'x')],
    });
    expect(causes(judged)).toEqual(['x: adjustment x']);
    expect(judged.findings).toStrictEqual([
      {
        kind: 'debited_twice',
        detail: 'The service debited 2.40 USD once more for order ord_1.',
        movementId: 'x',
        direction: 'debit',
        money: usd('2.40'),
        work: order.work,
        attemptId: 'att_1',
      },
    ]);
    expect(judged.entries).toEqual([
      { direction: 'debit', money: usd('2.40'), cause: { kind: 'adjustment', id: 'x' } },
    ]);
  });

  it('in excess waits while it is recent, because its cause may still appear', () => {
    const judged = judge({ movements: [debit(5, 'd'), debit(0.5, 'x')] });
    expect(causes(judged)).toEqual(['d: attempt att_1', 'x: pending']);
    expect(judged.findings).toEqual([]);
  });

  it('of an order is never a later period, at any age', () => {
    expect(causes(judge({ movements: [debit(500, 'd'), debit(100, 'x')] }))).toEqual([
      'd: attempt att_1',
      'x: adjustment x',
    ]);
  });
});

describe('a debit of a subscription', () => {
  const own = placed(vpnDebit(500, 'own'), { kind: 'attempt', id: 'att_4' }, 'att_4');
  const period = (hoursAgo: number, number: number) =>
    placed(vpnDebit(hoursAgo, `p${number}`), { kind: 'subscription_period', id: `vpn_1/${number}` }, 'att_4');
  const later = (movements: readonly Movement[], before: readonly Placed[] = [own], purchase = subscription) =>
    judge({ purchases: [purchase], placed: before, movements });

  it('is its next period, at least a day after any other', () => {
    expect(causes(later([vpnDebit(476, 'x')]))).toEqual(['x: subscription_period vpn_1/2']);
    expect(causes(later([vpnDebit(476.1, 'x')]))).toEqual(['x: adjustment x']);
    expect(causes(later([vpnDebit(100, 'x')], [own, period(124, 2)]))).toEqual(['x: subscription_period vpn_1/3']);
    expect(causes(later([vpnDebit(100, 'x')], [own, period(123, 2)]))).toEqual(['x: adjustment x']);
    expect(causes(later([vpnDebit(300, 'x'), vpnDebit(200, 'y'), vpnDebit(199, 'z')]))).toEqual([
      'x: subscription_period vpn_1/2',
      'y: subscription_period vpn_1/3',
      'z: adjustment z',
    ]);
  });

  it('is also a period when it is read late, after a later one', () => {
    expect(causes(later([vpnDebit(600, 'x')]))).toEqual(['x: subscription_period vpn_1/2']);
    expect(causes(later([vpnDebit(510, 'x')]))).toEqual(['x: adjustment x']);
  });

  it('is a period close to an excessive debit, and close to a credit', () => {
    const tooMany = placed(vpnDebit(490, 'e'), { kind: 'adjustment', id: 'e' }, 'att_4');
    expect(causes(later([vpnDebit(476, 'x')], [own, tooMany]))).toEqual(['x: subscription_period vpn_1/2']);
    const back = placed(credit(477, 'c', { names: OF_SUBSCRIPTION }), { kind: 'refund', id: 'vpn_1' }, 'att_4');
    expect(causes(later([vpnDebit(476, 'x')], [own, back]))).toEqual(['x: subscription_period vpn_1/2']);
  });

  it('is excessive after the end of the subscription, and while the subscription is not bought', () => {
    const ended = { ...subscription, endedAt: NOW - 100 * HOUR };
    expect(causes(later([vpnDebit(100, 'x')], [own], ended))).toEqual(['x: subscription_period vpn_1/2']);
    const after = later([vpnDebit(99, 'x')], [own], ended);
    expect(causes(after)).toEqual(['x: adjustment x']);
    expect(details(after)).toEqual([
      'The service debited 2.40 USD once more for VPN subscription vpn_1, which had ended.',
    ]);
    expect(causes(later([vpnDebit(100, 'x')], [own], { ...subscription, state: 'processing' }))).toEqual([
      'x: adjustment x',
    ]);
  });

  it('in excess mentions the end of the subscription only after that end', () => {
    const ended = { ...subscription, endedAt: NOW - 499 * HOUR };
    expect(details(later([vpnDebit(499, 'x')], [own], ended))).toEqual([
      'The service debited 2.40 USD once more for VPN subscription vpn_1.',
    ]);
    expect(details(later([vpnDebit(499, 'x')]))).toEqual([
      'The service debited 2.40 USD once more for VPN subscription vpn_1.',
    ]);
  });

  it('is its first one for any reported amount, because later ones may have that amount', () => {
    const row = reported(usd('2.40'), {
      cause: { kind: 'attempt', id: 'att_4' },
      work: subscription.work,
      attemptId: 'att_4',
    });
    const judged = judge({
      purchases: [subscription],
      outstanding: [row],
      movements: [vpnDebit(300, 'a', { money: usd('1.00') }), vpnDebit(100, 'b')],
    });
    expect(causes(judged)).toEqual(['a: attempt att_4', 'b: subscription_period vpn_1/2']);
    expect(kinds(judged)).toEqual(['amount_differs']);
  });
});

describe('a credit', () => {
  const own = placed(debit(9, 'd'), { kind: 'attempt', id: 'att_1' }, 'att_1');
  const excess = placed(debit(8, 'e'), { kind: 'adjustment', id: 'e' }, 'att_1');
  const refund = placed(credit(7, 'r'), { kind: 'refund', id: 'ord_1' }, 'att_1');

  it('first returns an excessive debit, and is otherwise a refund', () => {
    expect(causes(judge({ placed: [own, excess], movements: [credit(5, 'a'), credit(4, 'b')] }))).toEqual([
      'a: adjustment a',
      'b: refund ord_1',
    ]);
    // Also when it is older than the debit that it returns.
    expect(causes(judge({ movements: [credit(6, 'c'), debit(5, 'd'), debit(4, 'e')] }))).toEqual([
      'c: adjustment c',
      'd: attempt att_1',
      'e: adjustment e',
    ]);
  });

  it('of another amount does not return an excessive debit', () => {
    const other = placed(debit(8, 'e', { money: usd('3.20') }), { kind: 'adjustment', id: 'e' }, 'att_1');
    expect(causes(judge({ placed: [own, other], movements: [credit(5, 'a')] }))).toEqual(['a: refund ord_1']);
    expect(causes(judge({ placed: [own, other], movements: [credit(5, 'a', { money: usd('3.20') })] }))).toEqual([
      'a: adjustment a',
    ]);
  });

  it('of a failed attempt first returns its own debit, then an excessive one', () => {
    const judged = judge({ purchases: [failed], placed: [own, excess], movements: [credit(5, 'a'), credit(4, 'b')] });
    expect(causes(judged)).toEqual(['a: attempt att_1', 'b: adjustment b']);
    expect(judged.findings).toEqual([]);
  });

  it('is excessive when the refund is booked and nothing is owed', () => {
    for (const before of [
      [own, refund],
      [own, refund, excess, placed(credit(6, 'f'), { kind: 'adjustment', id: 'f' }, 'att_1')],
    ]) {
      const judged = judge({ placed: before, movements: [credit(5, 'x')] });
      expect(causes(judged)).toEqual(['x: adjustment x']);
      expect(judged.findings).toStrictEqual([
        {
          kind: 'credited_twice',
          detail: 'The service credited 2.40 USD once more for order ord_1.',
          movementId: 'x',
          direction: 'credit',
          money: usd('2.40'),
          work: order.work,
          attemptId: 'att_1',
        },
      ]);
    }
  });

  it('in excess waits while it is recent', () => {
    expect(causes(judge({ placed: [own, refund], movements: [credit(0.5, 'x')] }))).toEqual(['x: pending']);
  });

  it('that returns an excessive debit is no finding, at any age, after the refund', () => {
    const judged = judge({ placed: [own, refund, excess], movements: [credit(0.5, 'x')] });
    expect(causes(judged)).toEqual(['x: adjustment x']);
    expect(judged.findings).toEqual([]);
  });
});

describe('a movement without a known cause', () => {
  const strange = (direction: Direction, names: Partial<MovementNames>, hoursAgo = 5) =>
    judge({
      purchases: ALL,
      movements: [moved(direction, hoursAgo, 'x', { names: { ...NAMELESS, ...names }, reason: 'fee' })],
    });

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
    expect(causes(strange('debit', {}, 1))).toEqual(['x: orphan']);
    expect(causes(strange('debit', {}, 0.99))).toEqual(['x: pending']);
    expect(strange('debit', {}, 0.99).findings).toEqual([]);
  });
});

describe('the journal', () => {
  it('gets no second row for a known movement, and no longer awaits it', () => {
    const other = reported(usd('1.00'), { cause: { kind: 'attempt', id: 'att_2' }, recordedAt: NOW });
    const judged = judge({ outstanding: [reported(usd('2.4')), other], movements: [debit(5, 'd')] });
    expect(judged).toMatchObject({ entries: [], findings: [], outstanding: [other] });
  });

  it.each<[string, Money, Direction, Money, unknown[]]>([
    ['more was debited', usd('2.40'), 'debit', usd('2.50'), [{ direction: 'debit', money: usd('0.1') }]],
    ['less was debited', usd('2.40'), 'debit', usd('2.30'), [{ direction: 'credit', money: usd('0.1') }]],
    ['more was credited', usd('2.40'), 'credit', usd('2.50'), [{ direction: 'credit', money: usd('0.1') }]],
    ['less was credited', usd('2.40'), 'credit', usd('2.30'), [{ direction: 'debit', money: usd('0.1') }]],
    [
      'it was another currency',
      usd('2.40'),
      'debit',
      { amount: '2.40', currency: 'EUR' },
      [
        { direction: 'credit', money: usd('2.40') },
        { direction: 'debit', money: { amount: '2.40', currency: 'EUR' } },
      ],
    ],
  ])('is corrected by the difference when %s', (_what, before, direction, money, corrections) => {
    const judged = judge({
      purchases: [failed],
      outstanding: [reported(before, { direction })],
      movements: [moved(direction, 0.5, 'x', { money })],
    });
    expect(judged.entries).toEqual(
      corrections.map((entry) => ({ ...(entry as object), cause: { kind: 'adjustment', id: 'x' } })),
    );
    expect(judged.findings).toStrictEqual([
      {
        kind: 'amount_differs',
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
    const row: Outstanding = {
      direction: 'credit',
      money: usd('100.00'),
      cause: { kind: 'deposit', id: 'x' },
      recordedAt: NOW - 5 * HOUR,
    };
    const judged = judge({
      outstanding: [row],
      movements: [credit(5, 'x', { names: NAMELESS, reason: 'deposit', money: usd('90.00') })],
    });
    expect(judged.findings).toStrictEqual([
      {
        kind: 'amount_differs',
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
    const ownerless: Outstanding = {
      direction: 'credit',
      money: usd('5.00'),
      cause: { kind: 'deposit', id: 'd' },
      recordedAt: NOW - 2 * HOUR,
    };
    expect(judge({ outstanding: [ownerless] }).findings).toStrictEqual([
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

describe('a charge without a purchase', () => {
  const refused: Purchase = { ...order, state: 'refused' };

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
    const own = placed(debit(9, 'd'), { kind: 'attempt', id: 'att_1' }, 'att_1');
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
    const own = placed(debit(9, 'd'), { kind: 'attempt', id: 'att_1' }, 'att_1');
    expect(judge({ purchases: [failed], placed: [...beside, own] }).findings).toMatchObject([{ movementId: 'd' }]);
  });

  it('is reported in the order of the attempts, for any order of the rows', () => {
    const other: Purchase = { ...otherOrder, state: 'failed' };
    const movements = [debit(5, 'b', { names: { ...NAMELESS, orderId: 'so_2' } }), debit(5, 'a')];
    for (const purchases of [
      [failed, other],
      [other, failed],
    ]) {
      expect(judge({ purchases, movements }).findings).toMatchObject([{ attemptId: 'att_1' }, { attemptId: 'att_2' }]);
    }
  });
});
