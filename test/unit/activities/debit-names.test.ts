import { describe, expect, it } from 'vitest';
import type { WalletTransaction } from '#upstream/contract.ts';
import { countsInWallet, isPending, moneyOf, namesNothing } from '#upstream/mapping/wallet-movements.ts';

const movement = (more: Partial<WalletTransaction>): WalletTransaction => ({
  id: '1',
  type: 'debit',
  amount: '3.20',
  currency: 'USD',
  reason: 'order',
  created_at: '2026-01-01T10:00:00.000Z',
  ...more,
});

describe('a movement of the wallet', () => {
  it.each<[string, Partial<WalletTransaction>]>([
    ['it has no names', {}],
    ['they are null', { order_id: null, external_order_id: null }],
    ['they are empty texts', { order_id: null, external_order_id: '', external_subscription_id: ' ' }],
    ['they are zeros', { topup_id: '0', vpn_subscription_id: '000' }],
  ])('has no names when %s, so it may belong to any purchase', (_name, names) => {
    expect(namesNothing(movement(names))).toBe(true);
  });

  it.each<Partial<WalletTransaction>>([{ order_id: '7' }, { external_order_id: 'shop-1' }, { topup_id: 't_1' }])(
    'has a name: %j',
    (names) => expect(namesNothing(movement(names))).toBe(false),
  );

  it('has an absolute amount, so a debit of -3.20 is one of 3.20', () => {
    expect(moneyOf(movement({ amount: '-3.20' }))).toEqual({ amount: '3.20', currency: 'USD' });
  });

  it.each<[WalletTransaction['type'], string | null | undefined, boolean]>([
    ['credit', undefined, true],
    ['credit', null, true],
    ['credit', 'completed', true],
    ['credit', 'pending', false],
    ['credit', 'failed', false],
    ['debit', 'pending', true],
    ['debit', 'failed', false],
    ['debit', 'declined', false],
  ])('as a %s with state %s counts: %s', (type, status, counts) => {
    expect(countsInWallet(movement({ type, status }))).toBe(counts);
  });

  it.each([
    ['pending', true],
    ['on_hold', true],
    ['failed', false],
    ['rejected', false],
    ['completed', false],
    [undefined, false],
  ])('with the state %s may still become final: %s', (status, pending) => {
    expect(isPending(movement({ status }))).toBe(pending);
  });
});
