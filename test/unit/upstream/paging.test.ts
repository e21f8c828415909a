import { describe, expect, it } from 'vitest';
import { continuationOf, type Continuation, type ReceivedPage } from '#upstream/contract/paging.ts';

const of = (body: object, page: Partial<ReceivedPage> = {}): Continuation =>
  continuationOf({
    layers: [body as ReceivedPage['layers'][number]],
    count: 25,
    readSoFar: 25,
    query: {},
    path: '/wallet/transactions',
    linkHeader: undefined,
    isLinked: false,
    ...page,
  });
const END: Continuation = { kind: 'end' };
const UNKNOWN: Continuation = { kind: 'unknown' };
const next = (query: Record<string, string>): Continuation => ({ kind: 'next', query });
const LIST = 'https://api.example/v1/wallet/transactions';

it('a next link of any length is judged in the time of its length', () => {
  expect(of({ next: `https://h/${'/'.repeat(1_000_000)}x?cursor=1` })).toEqual(UNKNOWN);
});

describe('a page', () => {
  it.each<[string, object]>([
    ['a cursor that is null', { next_cursor: null }],
    ['an empty cursor', { meta: { next_cursor: '' } }],
    ['its number as the last one', { meta: { current_page: 1, last_page: 1 } }],
    ['its size and a total that it holds', { page: 1, per_page: 25, total: 25 }],
    ['a total that was read', { pagination: { total: 25 } }],
    ['no next link', { links: { next: null } }],
    ['that there is no more', { has_more: false }],
  ])('with %s is the last', (_name, body) => {
    expect(of(body)).toEqual(END);
  });

  const elsewhere = 'https://elsewhere.example/api/wallet/transactions?page=2&limit=25';
  it.each<[string, object, Record<string, string>]>([
    ['a cursor', { next_cursor: 'abc' }, { cursor: 'abc' }],
    ['a cursor beside a flag', { has_more: true, next_cursor: 'abc' }, { cursor: 'abc' }],
    ['page and last page', { meta: { current_page: 1, last_page: 4, total: 100 } }, { page: '2' }],
    ['page, size and total', { page: 1, per_page: 25, total: 100 }, { page: '2' }],
    ['offset and total', { offset: 0, limit: 25, total: 100 }, { offset: '25' }],
    ['a link', { links: { next: elsewhere } }, { page: '2', limit: '25' }],
    ['a link that is only a query', { next: '?after=77' }, { after: '77' }],
    ['a link object', { _links: { next: { href: `${LIST}?offset=25` } } }, { offset: '25' }],
  ])('with %s leads to the next one', (_name, body, query) => {
    expect(of(body)).toEqual(next(query));
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['that there is more, but not where', { has_more: true }],
    ['a total and no way to the rest', { total: 100 }],
    ['a null cursor and a further page', { next_cursor: null, meta: { current_page: 1, last_page: 4 } }],
    ['a null cursor and a larger total', { next_cursor: null, total: 100 }],
    ['another page than the requested one', { current_page: 3, last_page: 4 }],
    ['a link to another call', { next: 'https://elsewhere.example/other?page=2' }],
    ['a link that is a number', { next: 2 }],
    ['pages without the number of this one', { total_pages: 4 }],
    ['a total below the number of read items', { total: 20 }],
    ['a token that is no link', { next: 'abc' }],
    ['an offset that does not fit', { offset: 50, total: 100 }],
    ['a paging that we do not know', { page: { number: 0, totalPages: 4 } }],
  ])('with %s may have a next one', (_name, body) => {
    expect(of(body)).toEqual(UNKNOWN);
  });

  it('is the last when its requested number is the last', () => {
    const last = { count: 10, readSoFar: 85, query: { page: '4' } };
    expect(of({ meta: { current_page: 4, last_page: 4 } }, last)).toEqual(END);
    expect(of({ meta: { current_page: 1, last_page: 4 } }, last)).toEqual(UNKNOWN);
  });

  it('by offset continues after the items that were read', () => {
    const second = { readSoFar: 50, query: { offset: '25' } };
    expect(of({ offset: 25, limit: 25, total: 100 }, second)).toEqual(next({ offset: '50' }));
    expect(of({ offset: 75, limit: 25, total: 100 }, { readSoFar: 100, query: { offset: '75' } })).toEqual(END);
    expect(of({ offset: 25, total: 100 }, { ...second, count: 0, readSoFar: 25 })).toEqual(UNKNOWN);
  });

  it('without paging fields is never known to be the last', () => {
    expect(of({}, { layers: [] })).toEqual(UNKNOWN);
    expect(of({}, { layers: [], count: 0, readSoFar: 0 })).toEqual(UNKNOWN);
  });

  it.each<[string, Continuation]>([
    [`<${LIST}?page=2>; rel="next", <https://api.example/?page=4>; rel="last"`, next({ page: '2' })],
    [`<${LIST}?page=1>; rel="first", <https://api.example/?page=3>; rel="prev"`, END],
    ['<https://api.example/style.css>; rel="preload"', UNKNOWN],
    [`<${LIST}?page=2>; rel="last next"`, next({ page: '2' })],
    [`<${LIST}?page=2>; title="1, 2"; rel = "next"`, next({ page: '2' })],
    [`<${LIST}?page=2>; rel='next'`, next({ page: '2' })],
    ['<https://api.example/?page=1>; rel="first", <https://api.example/?page=4>; rel="last"', UNKNOWN],
    ['<https://api.example/?page=1>; rel="first", <https://api.example/?page=1>; rel="last"', END],
  ])('with the Link header %s', (linkHeader, expected) => {
    expect(of({}, { linkHeader })).toEqual(expected);
  });
});
