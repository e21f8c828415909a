import { describe, expect, it } from 'vitest';
import {
  evidenceDelayMs,
  judgeAbsence,
  mayBeFor,
  NO_DEBIT_SEEN,
  withDebit,
  type AbsenceFacts,
  type NamedAttempt,
} from '#domain/money/absence.ts';
import type { MovementNames } from '#domain/money/books.ts';
import { NAMELESS, usd } from '#test/support/work/books/reconciliation.ts';

const debit = (amount: string, currency = 'USD') => ({ direction: 'debit', money: { amount, currency } }) as const;
const credit = (amount: string) => ({ direction: 'credit', money: usd(amount) }) as const;

/** A steady wallet that did not move since before the send. */
const STEADY: AbsenceFacts = {
  reading: { id: 9, beganAt: 0, balance: usd('100.00'), isWhole: false, reachesBackTo: 3 },
  before: 5,
  currencies: ['USD'],
  hadRows: true,
  base: { id: 5, balance: usd('100.00') },
  since: [],
  suspect: undefined,
  laterDebit: undefined,
};
const facts = (more: Partial<AbsenceFacts>): AbsenceFacts => ({ ...STEADY, ...more });
const reading = (more: Partial<AbsenceFacts['reading']>) => ({ ...STEADY.reading, ...more });
const judged = (more: Partial<AbsenceFacts>) => {
  const absence = judgeAbsence(facts(more));
  return absence.isProven ? absence.by : absence.reason;
};

describe('the absence of a debit', () => {
  it('is proven by the ledger: the balance less its rows is what it was before the first send', () => {
    expect(judged({})).toBe('ledger');
    const since = [debit('2.40'), credit('50.00'), debit('1.10')];
    expect(judged({ since, reading: reading({ balance: usd('146.50') }) })).toBe('ledger');
  });

  it('is proven by a bracket where there is no steady balance: a row from before and a later debit of ours', () => {
    expect(judged({ reading: reading({ balance: undefined }), laterDebit: 'w7' })).toBe('bracket');
    expect(judged({ base: undefined, laterDebit: 'w7' })).toBe('bracket');
    const inEuro = reading({ balance: { amount: '90', currency: 'EUR' } });
    expect(judged({ reading: inEuro, laterDebit: 'w7' })).toBe('bracket');
  });

  it('is not proven by the balance of another currency than that of the purchase', () => {
    expect(judged({ currencies: ['EUR'] })).toBe('no_control');
    expect(judged({ currencies: ['EUR'], laterDebit: 'w7' })).toBe('bracket');
  });

  const moved = reading({ balance: usd('97.60') });
  const whole = reading({ reachesBackTo: undefined, isWhole: true });

  it.each<[string, Partial<AbsenceFacts>, string]>([
    ['an empty list of a shifted filter', { reading: reading({ reachesBackTo: undefined }) }, 'out_of_reach'],
    ['a list that ends after the send', { reading: reading({ reachesBackTo: 6 }) }, 'out_of_reach'],
    ['a list that is called whole and shows no row from before', { reading: whole }, 'out_of_reach'],
    ['a balance that moved without a row', { reading: moved }, 'contradicted'],
    [
      'a balance that moved without a row, although there is a bracket',
      { reading: moved, laterDebit: 'w7' },
      'contradicted',
    ],
    ['a row without a movement of the balance', { since: [debit('2.40')] }, 'contradicted'],
    ['no reading before the send', { before: undefined, laterDebit: 'w7' }, 'no_reading_before'],
    ['a debit that may be ours', { suspect: 'w8 over 2.40 USD', laterDebit: 'w7' }, 'suspect'],
    ['a wallet without a clean base and without a later debit', { base: undefined }, 'no_control'],
    ['a row in another currency', { since: [debit('2.40', 'EUR')] }, 'no_control'],
    ['neither balance nor later debit', { reading: reading({ balance: undefined }) }, 'no_control'],
  ])('is not proven by %s', (_, more, reason) => {
    expect(judged(more)).toBe(reason);
  });

  it('is proven in a wallet without any row, whose balance did not move', () => {
    expect(judged({ hadRows: false, reading: whole })).toBe('ledger');
  });

  it('names the readings that it is proven by', () => {
    const { detail } = judgeAbsence(STEADY);
    expect(detail).toContain('the reading 9 of 1970-01-01T00:00:00.000Z');
    expect(detail).toContain('the reading 5, before the first send');
  });
});

describe('the time of the reading', () => {
  const policy = { settleDelayMs: 30_000, unseenDebitDelayMs: 600_000 };

  it('is ten minutes after the failure while no debit was seen, then twice the longest time seen', () => {
    const delay = (longestMs: number | null, withinMs: number | null) =>
      evidenceDelayMs(policy, { longestMs, withinMs });
    expect(delay(null, null)).toBe(600_000);
    expect(delay(400_000, 100)).toBe(800_000);
    expect(delay(20_000, 100)).toBe(40_000);
    expect(delay(null, 20_000)).toBe(40_000);
    expect(delay(null, 100)).toBe(30_000);
    expect(delay(null, 900_000)).toBe(600_000);
  });

  it('is learned from rows that were missing before, else from the soonest that a first reading shows', () => {
    const learned = (...debits: Parameters<typeof withDebit>[1][]) => debits.reduce(withDebit, NO_DEBIT_SEEN);
    const shown = (elapsedMs: number) => ({ elapsedMs, wasMissing: false });
    const late = (elapsedMs: number) => ({ elapsedMs, wasMissing: true });
    expect(learned()).toEqual(NO_DEBIT_SEEN);
    expect(learned(shown(600_000), shown(8_000), shown(30_000))).toEqual({ longestMs: null, withinMs: 8_000 });
    const all = learned(shown(8_000), late(60_000), late(300_000), shown(200));
    expect(all).toEqual({ longestMs: 300_000, withinMs: 200 });
  });
});

const ORDER: NamedAttempt = {
  serviceId: '812',
  reference: 'Shop-2026-0001',
  serviceEsimId: null,
  fields: { serviceId: 'orderId', reference: 'orderReference' },
};
const TOPUP: NamedAttempt = { serviceId: null, reference: null, serviceEsimId: 'e1', fields: { serviceId: 'topupId' } };

describe('a debit that is for no other purchase of ours', () => {
  it.each<[string, NamedAttempt, Partial<MovementNames>]>([
    ['names nothing', ORDER, {}],
    ['names our reference in another case', ORDER, { orderReference: 'SHOP-2026-0001' }],
    ['names our reference cut at its end', ORDER, { orderId: '9', orderReference: 'Shop-2026-' }],
    ['names our reference in another field', ORDER, { subscriptionReference: 'Shop-2026-0001' }],
    ['names an unknown id, while ours is not known', { ...ORDER, serviceId: null }, { orderId: '9' }],
    ['names an unknown id of another kind', ORDER, { subscriptionId: '9' }],
    ['names a top-up of our eSIM', TOPUP, { topupId: 't9', esimId: 'e1' }],
    ['names a top-up without its eSIM', TOPUP, { topupId: 't9' }],
  ])('may be for the attempt when it %s', (_, attempt, names) => {
    expect(mayBeFor(attempt, { ...NAMELESS, ...names })).toBe(true);
  });

  it.each<[string, NamedAttempt, Partial<MovementNames>]>([
    ['another id', ORDER, { orderId: '813' }],
    ['another reference', { ...ORDER, serviceId: null }, { orderId: '9', orderReference: 'other' }],
    ['another reference in another field', ORDER, { subscriptionReference: 'other' }],
    ['a top-up of another eSIM', TOPUP, { topupId: 't9', esimId: 'e2' }],
  ])('is for somebody else when it names %s', (_, attempt, names) => {
    expect(mayBeFor(attempt, { ...NAMELESS, ...names })).toBe(false);
  });
});
