import { describe, expect, it } from 'vitest';
import { checkFirstPurchaseCheck } from '#cli/doctor/checks/offer.ts';
import { FIRST_PURCHASE_CHECK_ADVICE, notLookedYet } from '#domain/gate/first-purchase-check.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { FirstPurchaseCheckState } from '#fulfilment/gate/pauses.ts';

const at = new Date('2030-01-31T12:00:00.000Z');
const held: FirstPurchaseCheckState = {
  kind: 'held',
  pause: {
    id: 'pause_1',
    origin: 'first_purchase_check',
    kind: 'topup',
    failureClass: null,
    reason: notLookedYet('topup'),
    pausedBy: 'worker',
    pausedAt: at,
    releasedAt: null,
    releasedBy: null,
    releaseReason: null,
  },
};
const released: FirstPurchaseCheckState = { kind: 'released', by: 'key_ada', reason: 'Tried by hand.', at };
const recorded: FirstPurchaseCheckState = { kind: 'recorded', evidence: 'The VPN subscription vpn_1 was bought.' };

const check = (order: FirstPurchaseCheckState, topup: FirstPurchaseCheckState, vpn: FirstPurchaseCheckState) => {
  const states: [PurchaseKind, FirstPurchaseCheckState][] = [
    ['order', order],
    ['topup', topup],
    ['vpn_subscription', vpn],
  ];
  return checkFirstPurchaseCheck({ mode: 'production' }, { firstPurchaseCheck: new Map(states) });
};

describe('the line on the first purchase check', () => {
  it('fails while a kind is held, with the state of each kind and one advice', () => {
    const { status, detail, advice } = check(released, held, recorded);
    expect(status).toBe('failure');
    expect(detail).toContain('orders: released by key_ada at 2030-01-31T12:00:00.000Z: Tried by hand.');
    expect(detail).toContain('top-ups: held by pause_1 since 2030-01-31T12:00:00.000Z: The shapes of');
    expect(detail).toContain('VPN subscriptions: seen. The VPN subscription vpn_1 was bought.');
    expect(detail).not.toContain(FIRST_PURCHASE_CHECK_ADVICE);
    expect(advice).toBe(FIRST_PURCHASE_CHECK_ADVICE);
  });
});
