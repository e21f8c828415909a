import { expect, it } from 'vitest';
import { PACKAGES } from '#simulator/catalogue.ts';
import type { ShapeName } from '#simulator/shapes/shape.ts';
import { startShaped } from '#test/simulator/shapes/shape-support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

const IDS = PACKAGES.map(({ id }) => id).toSorted((left, right) => left - right);

/** Query of the next page in an answer; undefined without one. */
type Next = (answer: HttpAnswer, ids: readonly number[]) => string | undefined;

const nextPage: Next = (answer) => {
  const [page, last] = [Number(answer.at('meta', 'current_page')), Number(answer.at('meta', 'last_page'))];
  return page < last ? `?page=${page + 1}` : undefined;
};
const nextOffset: Next = (answer, ids) => {
  const next = Number(answer.at('offset')) + ids.length;
  return next < Number(answer.at('total')) ? `?offset=${next}` : undefined;
};
const linked: Next = (answer) => {
  const address = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
  return address === undefined ? undefined : new URL(address).search;
};
const idsOf = (answer: HttpAnswer) => (answer.at('data') as { id: number }[]).map(({ id }) => id);

it.each<[ShapeName, Next]>([
  ['plain', (answer) => (answer.at('next_cursor') === null ? undefined : `?cursor=${answer.textAt('next_cursor')}`)],
  ['pages', nextPage],
  ['offset_limit', nextOffset],
  ['link_header', linked],
  ['has_more', (answer, ids) => (answer.at('has_more') === true ? `?starting_after=${ids.at(-1)}` : undefined)],
])('a list in the shape %s leads from page to page to its end, with each item once', async (name, next) => {
  await using simulator = await startShaped({ name });
  const pages: (readonly number[])[] = [];
  for (let query: string | undefined = ''; query !== undefined;) {
    const answer: HttpAnswer = await simulator.sandbox.get(`/packages${query}`);
    const ids = idsOf(answer);
    pages.push(ids);
    query = next(answer, ids);
  }
  expect(pages.flat()).toEqual(IDS);
  expect(pages.map(({ length }) => length)).toEqual(name === 'plain' ? [50, 1] : [25, 25, 1]);
});

it('a list in the shape silent_lists has its first 25 items and no sign of the others', async () => {
  await using simulator = await startShaped({ name: 'silent_lists' });
  for (const query of ['', '?limit=100', '?page=2', '?cursor=x', '?offset=25']) {
    const answer = await simulator.sandbox.get(`/packages${query}`);
    expect(Object.keys(answer.body as object)).toEqual(['data']);
    expect(idsOf(answer)).toEqual(IDS.slice(0, 25));
  }
});
