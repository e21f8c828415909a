import { describe, expect, it } from 'vitest';
import { httpAnswer } from '#test/support/network/raw-server.ts';
import { TRANSACTION } from '#test/support/service-records.ts';
import { jsonAnswer as json, startTestClient, type Answer } from '#test/support/upstream-client.ts';

const ALL = Array.from({ length: 100 }, (_, index) => ({ ...TRANSACTION, id: index + 1 }));
const SIZE = 25;

const parameter = (target: string, name: string) =>
  Number(new URL(target, 'http://service.invalid').searchParams.get(name) ?? 0);
const from = (offset: number) => ALL.slice(offset, offset + SIZE);

async function read(answer: Answer) {
  await using opened = await startTestClient(answer);
  const result = await opened.client.listWalletTransactions({ since: 0 });
  if (!result.ok) throw new Error(JSON.stringify(result));
  const { items, complete } = result.value;
  return { ids: items.map(({ id }) => Number(id)), complete, asked: opened.targets().slice(1) };
}

const everyId = ALL.map(({ id }) => id);

describe('the wallet of a service that answers 25 of 100 transactions at a time', () => {
  const lastPage: Answer = ({ target }) => {
    const page = parameter(target, 'page') || 1;
    const meta = { current_page: page, last_page: 4, per_page: SIZE, total: 100 };
    return json({ data: from((page - 1) * SIZE), meta });
  };
  const header: Answer = ({ target }) => {
    const page = parameter(target, 'page') || 1;
    const link = { link: `</wallet/transactions?page=${page + 1}>; rel="next"` };
    return httpAnswer(200, JSON.stringify(from((page - 1) * SIZE)), page < 4 ? link : {});
  };
  const cursor: Answer = ({ target }) => {
    const next = parameter(target, 'cursor') + SIZE;
    return json({ items: from(next - SIZE), next_cursor: next < 100 ? String(next) : null });
  };
  it.each<[string, Answer]>([
    ['page and last page', lastPage],
    ['the Link header, which the last page lacks', header],
    ['a cursor', cursor],
  ])('is read completely by %s', async (_name, answer) => {
    const { ids, complete, asked } = await read(answer);
    expect({ ids, complete, calls: asked.length }).toEqual({ ids: everyId, complete: true, calls: 4 });
    expect(asked.every((target) => target?.includes('since=') && target.includes('limit='))).toBe(true);
  });

  const repeating: Answer = ({ target }) =>
    json({ data: from(0), next_cursor: target.includes('cursor=a') ? null : 'a' });
  const otherFilter: Answer = ({ target }) =>
    target.includes('2099')
      ? json({ data: [], links: { next: null } })
      : json({ data: from(0), links: { next: '?since=2099-01-01' } });
  const cutShort: Answer = ({ target }) => {
    const link = '</wallet/transactions?page=2>; rel="next", </wallet/transactions?page=4>; rel="last"';
    const page = parameter(target, 'page') || 1;
    return httpAnswer(200, JSON.stringify(from((page - 1) * SIZE)), page === 1 ? { link } : {});
  };
  it.each<[string, Answer]>([
    ['a cursor, and repeats the first page', repeating],
    ['a link to another filter', otherFilter],
    ['by Link header that the last page is another, and then nothing', cutShort],
  ])('is not known to be complete when the service sends %s', async (_name, answer) => {
    const { ids, complete } = await read(answer);
    expect({ first: ids[0], complete }).toEqual({ first: 1, complete: false });
  });

  it('is not known to be complete when one transaction cannot be read', async () => {
    const data = [{ ...ALL[0], amount: 'much' }, ALL[1]];
    const { ids, complete } = await read(() => json({ data, next_cursor: null }));
    expect({ ids, complete }).toEqual({ ids: [2], complete: false });
  });
});

it('an unusable part of an answer is reported with the call and the names of the contract', async () => {
  const packages = [
    { id: 7, name: 'Europe', price_for_reseller: '4.50', currency: 'EUR', countries: null },
    { id: 'x', name: 'Nowhere', price_for_reseller: '4.50', currency: 'EUR' },
  ];
  await using opened = await startTestClient(() => json({ data: packages, next_cursor: null }));
  expect(await opened.client.listPackages()).toMatchObject({ value: { items: [{ countries: [] }], complete: false } });
  expect(opened.events.at(-1)).toMatchObject({ unused: { fields: ['data[].countries', 'data[].id'], items: 1 } });
});

describe('a price list', () => {
  const priced = (price_for_reseller: unknown, id: number) => ({ id, name: 'P', price_for_reseller, currency: 'EUR' });

  it('of whole numbers is refused with the setting of the unit, unless one price has decimals', async () => {
    const data = [priced(450, 1), priced('12', 2)];
    await using whole = await startTestClient(() => json({ data, next_cursor: null }));
    expect(await whole.client.listPackages()).toMatchObject({
      failure: 'contract_drift',
      detail: expect.stringContaining('data[].price_for_reseller'),
    });
    await using mixed = await startTestClient(({ target }) =>
      target.includes('cursor')
        ? json({ data: [priced(10, 2)], next_cursor: null })
        : json({ data: [priced(4.5, 1)], next_cursor: 'a' }),
    );
    expect(await mixed.client.listPackages()).toMatchObject({ ok: true, value: { items: [{ id: 1 }, { id: 2 }] } });
  });

  it('of top-up options is accepted, because the packages have shown the unit', async () => {
    await using opened = await startTestClient(() => json({ data: [priced(5, 1)], next_cursor: null }));
    expect(await opened.client.listTopupOptions('e_1')).toMatchObject({ ok: true, value: { items: [{ id: 1 }] } });
  });
});
