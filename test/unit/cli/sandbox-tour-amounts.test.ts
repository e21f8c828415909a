import { describe, expect, it } from 'vitest';
import { noteSpent } from '#cli/sandbox-tour/amounts.ts';
import { notesOf, type TourFinding } from '#cli/sandbox-tour/leg.ts';
import type { Observations } from '#cli/sandbox-tour/observations.ts';
import { TRANSACTION } from '#test/support/service-records.ts';
import { type WalletTransaction, walletTransaction } from '#upstream/contract.ts';

const movement = (change: object): WalletTransaction => walletTransaction.parse({ ...TRANSACTION, ...change });
const OLD = movement({ id: 'old', type: 'debit', amount: '9.00', currency: 'USD' });
const NEW = [
  movement({ id: 'new-1', type: 'debit', amount: '2.40', currency: 'USD' }),
  movement({ id: 'new-2', type: 'debit', amount: '5.10', currency: 'USD' }),
  movement({ id: 'new-3', type: 'credit', amount: '2.40', currency: 'USD' }),
];

function spent(before: string, after: string, movements: readonly WalletTransaction[] | undefined, currency = 'USD') {
  const findings: TourFinding[] = [];
  const observations: Observations = { calls: {}, keyRepeats: [], purchases: {}, resendWindowMs: 0 };
  noteSpent(
    { ...notesOf('account', (each) => findings.push(each)), observations },
    { balance: { amount: before, currency }, movements: [OLD] },
    { balance: { amount: after, currency }, movements: movements && [...movements, OLD] },
  );
  const [finding] = findings;
  return { status: finding?.status, purchases: observations.purchases };
}

describe('what the balance lost during a tour', () => {
  it('is the sum of the new movements', () => {
    expect(spent('100.00', '94.90', NEW)).toEqual({ status: 'ok', purchases: {} });
  });

  it.each([
    ['a balance in cents', '10000', '9490', 'USD', 'balance'],
    ['a balance in tenths of the movements', '10.00', '9.49', 'USD', 'balance'],
    ['a balance in another currency', '100.00', '94.90', 'EUR', 'currency'],
  ])('of %s fails every kind, and the field is named', (_name, before, after, currency, field) => {
    const { status, purchases } = spent(before, after, NEW, currency);
    expect(status).toBe('drift');
    const differs = { kind: 'differs', detail: expect.stringContaining(`GET /wallet: ${field} differs`) };
    expect(purchases).toEqual({ order: differs, topup: differs, vpn_subscription: differs });
  });

  it.each([
    ['others use the sandbox, too', '100.00', '90.00', NEW],
    ['nothing moved', '100.00', '100.00', []],
    ['the movements cannot be read', '100.00', '94.90', undefined],
  ])('proves nothing when %s', (_name, before, after, movements) => {
    expect(spent(before, after, movements)).toEqual({ status: 'skipped', purchases: {} });
  });
});
