import { describe, expect, it } from 'vitest';
import { PACKAGES } from '#simulator/catalogue.ts';
import type { ShapeName } from '#simulator/shapes/shape.ts';
import { startShaped } from '#test/simulator/shapes/shape-support.ts';
import type { SimulatorClient } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

const IDS = PACKAGES.map(({ id }) => id).toSorted((left, right) => left - right);

/** Query of the next page in an answer; undefined without one, or when the answer does not contain it. */
type Next = (answer: HttpAnswer, items: readonly { id: number }[]) => string | undefined;

const WAYS: readonly (readonly [ShapeName, Next])[] = [
  ['plain', (answer) => (answer.at('next_cursor') === null ? undefined : `?cursor=${answer.textAt('next_cursor')}`)],
  [
    'pages',
    (answer) => {
      const [page, last] = [Number(answer.at('meta', 'current_page')), Number(answer.at('meta', 'last_page'))];
      return page < last ? `?page=${page + 1}` : undefined;
    },
  ],
  [
    'offset_limit',
    (answer, items) => {
      const next = Number(answer.at('offset')) + items.length;
      return next < Number(answer.at('total')) ? `?offset=${next}` : undefined;
    },
  ],
  [
    'link_header',
    (answer) => {
      const address = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      return address === undefined ? undefined : new URL(address).search;
    },
  ],
  ['has_more', (answer, items) => (answer.at('has_more') === true ? `?starting_after=${items.at(-1)?.id}` : undefined)],
];

async function walk(simulator: SimulatorClient, next: Next): Promise<readonly (readonly number[])[]> {
  const pages: number[][] = [];
  for (let query: string | undefined = ''; query !== undefined;) {
    const answer: HttpAnswer = await simulator.sandbox.get(`/packages${query}`);
    expect(answer.status).toBe(200);
    const items = answer.at('data') as { id: number }[];
    pages.push(items.map(({ id }) => id));
    query = next(answer, items);
  }
  return pages;
}

describe('a list', () => {
  it.each(WAYS)('in the shape %s leads from page to page to its end, with each item once', async (name, next) => {
    await using simulator = await startShaped({ name });
    const pages = await walk(simulator, next);
    expect(pages.flat()).toEqual(IDS);
    expect(pages.map(({ length }) => length)).toEqual(name === 'plain' ? [50, 1] : [25, 25, 1]);
  });

  it('in the shape silent_lists has its first 25 items and no sign of the others', async () => {
    await using simulator = await startShaped({ name: 'silent_lists' });
    for (const query of ['', '?limit=100', '?page=2', '?cursor=x', '?offset=25']) {
      const answer = await simulator.sandbox.get(`/packages${query}`);
      expect(Object.keys(answer.body as object)).toEqual(['data']);
      expect((answer.at('data') as { id: number }[]).map(({ id }) => id)).toEqual(IDS.slice(0, 25));
    }
  });

  it.each(WAYS)('in the shape %s keeps its filter on every page', async (name, next) => {
    await using simulator = await startShaped({ name });
    const esim = await simulator.esim();
    for (const key of ['a', 'b', 'c']) await simulator.topUp(esim, 1001, key);
    const other = await simulator.esim();
    await simulator.topUp(other);
    const all = [];
    const asked = `esim_id=${esim}&${name === 'pages' ? 'per_page' : 'limit'}=2`;
    for (let query: string | undefined = `?${asked}`; query !== undefined;) {
      const answer: HttpAnswer = await simulator.sandbox.get(`/topups${query}`);
      expect((answer.at('data') as []).length).toBeLessThanOrEqual(2);
      const items = answer.at('data') as { id: number; esim_id: string }[];
      all.push(...items);
      const further: string | undefined = next(answer, items);
      query = further === undefined || further.includes('esim_id') ? further : `${further}&${asked}`;
    }
    expect(all.map(({ esim_id }) => esim_id)).toEqual([esim, esim, esim]);
  });

  it.each([
    ['plain', ['cursor', 'limit'], ''],
    ['pages', ['page', 'per_page'], 'page=1&per_page=5'],
    ['offset_limit', ['offset', 'limit'], 'offset=3&limit=5'],
    ['link_header', ['cursor', 'limit'], 'limit=5'],
    ['has_more', ['starting_after', 'limit'], `starting_after=${IDS[2]}&limit=5`],
    ['silent_lists', [], ''],
  ] as const)('in the shape %s is described with its parameters', async (name, parameters, query) => {
    await using simulator = await startShaped({ name });
    const { paths } = simulator.description.document;
    const described = (path: string) => paths[path]?.['get']?.parameters?.map((parameter) => parameter.name) ?? [];
    expect(described('/packages')).toEqual(parameters);
    expect(described('/topups')).toEqual(['esim_id', ...parameters]);
    expect(described('/vpn/plans')).toEqual([]);
    const answer = await simulator.sandbox.get(`/packages?${query}`);
    const expected = query === '' ? IDS : IDS.slice(/3|after/.test(query) ? 3 : 0).slice(0, 5);
    const seen = (answer.at('data') as { id: number }[]).map(({ id }) => id);
    expect(seen).toEqual(expected.slice(0, name === 'plain' ? 50 : 25));
  });
});
