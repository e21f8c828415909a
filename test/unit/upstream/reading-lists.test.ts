import { describe, expect, it } from 'vitest';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import { PACKAGE, TRANSACTION } from '#test/support/service-records.ts';
import { servicePackage, walletTransaction } from '#upstream/contract.ts';
import { readAnswer, readPage } from '#upstream/reading/answer.ts';

describe('a page of a list', () => {
  it.each<[string, unknown]>([
    ['data', { data: [PACKAGE] }],
    ['its name below data', { data: { packages: [PACKAGE] }, meta: { total: 1 } }],
    ['items', { items: [PACKAGE] }],
    ['results', { results: [PACKAGE] }],
    ['its name', { packages: [PACKAGE] }],
    ['the body itself', [PACKAGE]],
  ])('is found in %s', (_name, body) => {
    expect(readPage(servicePackage, body, 'package')).toMatchObject({ ok: true, items: [{ id: 7 }], dropped: 0 });
  });

  it.each<[string, unknown]>([
    ['an object', { data: { id: 7 } }],
    ['a text', 'none'],
    ['two lists', { data: [PACKAGE], items: [PACKAGE] }],
  ])('is not found in %s', (_name, body) => {
    const problem = 'its body lacks or misstates data';
    expect(readPage(servicePackage, body, 'package')).toEqual({ ok: false, problem });
  });

  it('drops and counts unreadable items', () => {
    const data = [PACKAGE, { ...PACKAGE, id: 'seven' }, null, { ...PACKAGE, id: 8, countries: null }];
    expect(readPage(servicePackage, { data }, 'package')).toMatchObject({
      ok: true,
      items: [{ id: 7 }, { id: 8, countries: [] }],
      dropped: 2,
      leftOut: ['data[].countries', 'data[].id', 'data[]'],
    });
  });

  it('without a readable item is refused', () => {
    const data = [{ ...TRANSACTION, amount: { cents: 450 } }];
    const problem = 'its body lacks or misstates data[].amount';
    expect(readPage(walletTransaction, { data }, 'transaction')).toEqual({ ok: false, problem });
  });

  it.each<[string, object]>([
    ['success is false', { success: false, data: [] }],
    ['it has an error', { error: { code: 'internal_error' }, data: [], next_cursor: null }],
    ['its status is error', { status: 'error', data: [] }],
  ])('is no list where %s', (_name, body) => {
    const problem = 'its body says that it is an error';
    expect(readPage(walletTransaction, body, 'transaction')).toEqual({ ok: false, problem });
  });

  it.each<[string, object, number]>([
    ['an id that could not be read', { data: [{ ...TRANSACTION, order_id: { id: 'so_1' } }] }, 1],
    ['a reference that is a list', { data: [{ ...TRANSACTION, external_order_id: [12_345] }] }, 1],
    ['no reference that is a number', { data: [{ ...TRANSACTION, external_order_id: 12_345 }] }, 0],
    ['a further list beside it', { data: { transactions: [], pending_transactions: [TRANSACTION] } }, 1],
    ['nothing of the kind', { data: [TRANSACTION], warnings: [], tags: ['a'] }, 0],
  ])('counts reasons for uncertainty: %s', (_name, body, uncertain) => {
    expect(readPage(walletTransaction, body, 'transaction')).toMatchObject({ ok: true, uncertain });
  });

  it('with too many items, or a record with too many faults, is not read', () => {
    const many = Array.from({ length: ANSWER_LIMITS.listItems + 1 }, () => ({}));
    const problem = 'its list has more than 20000 items';
    expect(readPage(servicePackage, { data: many }, 'package')).toMatchObject({ ok: false, problem });
    const countries = Array.from({ length: 2_000 }, () => null);
    expect(readAnswer(servicePackage, { ...PACKAGE, countries }, 'package')).toMatchObject({ ok: false });
  });
});
