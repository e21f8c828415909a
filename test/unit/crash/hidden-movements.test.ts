import { expect, it } from 'vitest';
import type { LedgerLine } from '#test/support/network/simulator-admin.ts';
import { movements } from '#test/support/work/books/differences.ts';

const line = (type: LedgerLine['type'], amount: string, reference: string | null): LedgerLine => ({
  environment: 'sandbox',
  type,
  amount,
  currency: 'USD',
  reason: reference === null ? 'deposit' : 'order',
  order_id: null,
  external_order_id: reference,
  esim_id: null,
  topup_id: null,
  refund_id: null,
  external_subscription_id: null,
  created_at: '2030-01-31T12:00:00.000Z',
});

const DEPOSIT = line('credit', '100.00', null);
const DEBIT = line('debit', '2.40', 'ours');
const CREDIT = line('credit', '2.40', 'ours');

/** The journal has none of the movements of the attempt. */
function differences(own: readonly LedgerLine[], listsOldest: number | null, state: 'failed' | 'completed' = 'failed') {
  const attempt = {
    id: 'att_1',
    number: 1,
    subjectKind: 'order',
    subjectId: 'ord_1',
    reference: 'ours',
    serviceId: null,
    serviceEsimId: null,
    state,
  } as const;
  const books = { attempts: [attempt], journal: [], ledger: [...own], wallet: [DEPOSIT, ...own] };
  return movements(books, { listsOldest });
}

it('a debit with its credit that the wallet never lists may be missing in the journal of a failed attempt', () => {
  expect(differences([DEBIT, CREDIT], 1)).toEqual([]);
});

it.for<[string, ...Parameters<typeof differences>]>([
  ['is listed', [DEBIT, CREDIT], 2],
  ['is of a wallet that lists all', [DEBIT, CREDIT], null],
  ['has another amount than its credit', [DEBIT, line('credit', '0.40', 'ours')], 1],
  ['has no credit', [DEBIT], 1],
  ['is of an attempt that did not fail', [DEBIT, CREDIT], 1, 'completed'],
])('a debit that the journal lacks is a difference when it %s', ([, ...given]) => {
  expect(differences(...given)).toHaveLength(1);
});
