/** The stored catalogue in the API: filters, orders, pages, age, and the time before the first reading. */
import { describe, expect, it } from 'vitest';
import { packages } from '#db/schema.ts';
import type { CataloguePackage } from '#domain/catalogue/catalogue.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { idleService, startTestApi, TEST_NOW, TEST_PACKAGES } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { recordCatalogue, SAMPLE_PACKAGE as SAMPLE } from '#test/support/work/catalogue.ts';

const MINUTE = 60_000;
const AWAY = async () => ({ ok: false, kind: 'failure', failure: 'not_sent', detail: 'The service is away.' }) as const;
const away = { ...idleService, listPackages: AWAY, listVpnPlans: AWAY };

const UNLIMITED = { dataMb: null, unlimited: true };
const UNKNOWN = { dataMb: null, unlimited: null, days: null };

const idsOf = (answer: HttpAnswer) => (answer.at('data') as { id: number }[]).map(({ id }) => id);

const { api, caller } = await apiOfFile({ service: away });

/** Records a reading of the packages, a minute after the last one. */
async function record(items: readonly CataloguePackage[], afterMs = MINUTE): Promise<void> {
  api.clock.now += afterMs;
  await recordCatalogue(api.database, 'packages', items, new Date(api.clock.now));
}

describe('the list of packages', () => {
  it.each<[string, Partial<CataloguePackage>]>([
    ['q=GB', { name: 'Europe 5 G_B' }],
    ['country=DE,FR', { countries: ['DE', 'ES'] }],
    ['region=europe', { countries: [] }],
    ['unlimited=false', UNLIMITED],
    ['unlimited=false', UNKNOWN],
    ['min_data_mb=5120', { dataMb: 5_119 }],
    ['min_data_mb=1', UNKNOWN],
    ['max_data_mb=5120', { dataMb: 5_121 }],
    ['max_data_mb=5120', UNLIMITED],
    ['max_data_mb=5120', UNKNOWN],
    ['min_days=30', { days: 29 }],
    ['min_days=30', UNKNOWN],
    ['max_days=30', { days: 31 }],
    ['max_days=30', UNKNOWN],
    ['min_price=9.8', { price: { amount: '9.799999', currency: 'EUR' } }],
    ['max_price=9.8', { price: { amount: '9.801', currency: 'EUR' } }],
    ['currency=EUR&min_price=9&max_price=10', { price: { amount: '10.01', currency: 'EUR' } }],
  ])('with %s shows the sample and not one with %j', async (query, change) => {
    await record([SAMPLE, { ...SAMPLE, id: 2, ...change }]);
    expect(idsOf(await caller.get(`/v1/packages?${query}`))).toEqual([1]);
  });

  it.each<[string, Partial<CataloguePackage>, boolean]>([
    ['min_data_mb=999999', UNLIMITED, true],
    ['unlimited=true', UNLIMITED, true],
    ['region=asia', { countries: ['DE', 'JP'] }, true],
    ['q=t%C3%9CRKEI', { name: 'Türkei 1 GB' }, true],
    ['q=%25', { name: 'anything' }, false],
    ['country=DE,DE', {}, true],
  ])('with %s shows one with %j: %s', async (query, change, isShown) => {
    await record([{ ...SAMPLE, ...change }]);
    expect(idsOf(await caller.get(`/v1/packages?${query}`))).toEqual(isShown ? [1] : []);
  });

  it('takes at most fifty countries and no text that PostgreSQL cannot store', async () => {
    const many = Array.from({ length: 51 }, () => 'DE').join(',');
    for (const query of [`country=${many}`, 'q=%00', 'region=mars', 'min_price=-1'])
      expect((await caller.get(`/v1/packages?${query}`)).status, query).toBe(400);
  });

  it.each([
    ['id', [1, 2, 3, 4]],
    ['price', [1, 2, 3, 4]],
    ['-price', [3, 1, 2, 4]],
    ['data', [2, 3, 1, 4]],
    ['-data', [1, 3, 2, 4]],
    ['days', [3, 1, 2, 4]],
    ['-days', [1, 2, 3, 4]],
  ] as const)('is ordered by %s, unknown values last, also in pages of one', async (sort, ids) => {
    const eur = (amount: string) => ({ price: { amount, currency: 'EUR' } });
    await record([
      { ...SAMPLE, id: 4, price: { amount: '1', currency: 'USD' }, ...UNKNOWN },
      { ...SAMPLE, id: 3, ...eur('10'), dataMb: 900, days: 7 },
      { ...SAMPLE, id: 2, ...eur('9.50'), dataMb: 100 },
      { ...SAMPLE, id: 1, ...eur('9.5'), ...UNLIMITED },
    ]);
    expect(idsOf(await caller.get(`/v1/packages?sort=${sort}`))).toEqual(ids);
    expect(await allPages(`/v1/packages?sort=${sort}&limit=1`)).toEqual(ids);
  });

  async function allPages(path: string, from = ''): Promise<number[]> {
    const page = await caller.get(`${path}${from}`);
    if (page.at('next_cursor') === null) return idsOf(page);
    return [...idsOf(page), ...(await allPages(path, `&cursor=${page.textAt('next_cursor')}`))];
  }

  it.each(['price', '-price', 'days', 'data', '-data'])(
    'by %s continues at the same place when the last item of a page changes',
    async (sort) => {
      const at = (id: number, value: number) => {
        return { ...SAMPLE, id, days: value, dataMb: value, price: { ...SAMPLE.price, amount: `${value}.00` } };
      };
      const ids = [1, 2, 3, 4, 5, 6];
      await record(ids.map((id) => at(id, id)));
      const whole = idsOf(await caller.get(`/v1/packages?sort=${sort}`));
      const first = await caller.get(`/v1/packages?sort=${sort}&limit=2`);
      const moved = idsOf(first)[1];
      await record(ids.map((id) => at(id, id === moved ? 99 : id)));
      const rest = idsOf(await caller.get(`/v1/packages?sort=${sort}&cursor=${String(first.at('next_cursor'))}`));
      expect(rest.filter((id) => id !== moved)).toEqual(whole.slice(2));
    },
  );

  it('keeps the newer state when a reading that began earlier ends later', async () => {
    const priced = (amount: string) => [{ ...SAMPLE, price: { ...SAMPLE.price, amount } }];
    await record(priced('2.00'), 2 * MINUTE);
    const before = await caller.get(`/v1/packages/${SAMPLE.id}`);
    await record(priced('1.00'), -MINUTE);
    api.clock.now += MINUTE;
    expect((await caller.get(`/v1/packages/${SAMPLE.id}`)).body).toEqual(before.body);
  });

  it('refuses a cursor of another order', async () => {
    await record([SAMPLE, { ...SAMPLE, id: 2 }]);
    const cursor = String((await caller.get('/v1/packages?sort=price&limit=1')).at('next_cursor'));
    const answer = await caller.get(`/v1/packages?sort=days&cursor=${cursor}`);
    expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, 'cursor']);
  });

  it('tells what changed since an earlier answer, removals too, and the removed package can be read', async () => {
    await record([SAMPLE, { ...SAMPLE, id: 2 }, { ...SAMPLE, id: 3 }]);
    const since = String((await caller.get('/v1/packages')).at('read_at'));
    await record([SAMPLE, { ...SAMPLE, id: 2, name: 'Other' }]);
    expect(idsOf(await caller.get(`/v1/packages?updated_after=${since}`))).toEqual([2]);
    const all = await caller.get(`/v1/packages?updated_after=${since}&include_removed=true`);
    expect(idsOf(all)).toEqual([2, 3]);
    const now = new Date(api.clock.now).toISOString();
    expect((await caller.get('/v1/packages/3')).body).toMatchObject({ id: 3, available: false, removed_at: now });
  });
});

describe('the list of VPN plans', () => {
  it('has the same orders and pages', async () => {
    const plan = { name: 'VPN', duration_days: 30, price_for_reseller: '3.20', currency: 'EUR', available: true };
    const items = [
      { ...plan, id: 1 },
      { ...plan, id: 2, duration_days: 365, price_for_reseller: '20' },
      { ...plan, id: 3, duration_days: undefined, currency: 'USD' },
    ];
    const listVpnPlans = async () => ({ ok: true, status: 200, value: { items, complete: true } }) as const;
    await using api = await startTestApi({ service: { ...idleService, listVpnPlans } });
    const caller = await api.caller();
    const shown = async (query: string) => idsOf(await caller.get(`/v1/vpn/plans?${query}`));
    for (const sort of ['-days', '-price']) expect(await shown(`sort=${sort}`), sort).toEqual([2, 1, 3]);
    const first = await caller.get('/v1/vpn/plans?limit=2&sort=-days');
    expect(await shown(`sort=-days&cursor=${String(first.at('next_cursor'))}`)).toEqual([3]);
    expect((await caller.get('/v1/vpn/plans/2')).body).toMatchObject({ id: 2, removed_at: null, age_seconds: 0 });
    for (const id of ['4', '02', 'x'])
      expect((await caller.get(`/v1/vpn/plans/${id}`)).at('code')).toBe('vpn_plan_not_found');
  });
});

describe('before the first reading of the schedule', () => {
  it('the API reads once for all requests that wait, and stores what it read', async () => {
    let reads = 0;
    const listPackages = async () => {
      reads += 1;
      return { ok: true, status: 200, value: { items: TEST_PACKAGES, complete: true } } as const;
    };
    await using api = await startTestApi({ service: { ...idleService, listPackages } });
    const caller = await api.caller();
    const answers = await Promise.all(Array.from({ length: 5 }, () => caller.get('/v1/packages')));
    for (const answer of answers) expect(idsOf(answer)).toEqual([101, 102, 103]);
    expect(await api.database.run((db) => db.$count(packages))).toBe(3);
    const before = reads;
    api.clock.now += 60 * MINUTE;
    const old = { read_at: new Date(TEST_NOW).toISOString(), age_seconds: 3_600 };
    expect((await caller.get('/v1/packages')).body).toMatchObject(old);
    expect(reads).toBe(before);
  });

  it('answers 503 while the service is away', async () => {
    await using api = await startTestApi({ service: away });
    const caller = await api.caller();
    for (const path of ['/v1/packages/1', '/v1/vpn/plans', '/v1/vpn/plans/1'])
      expect((await caller.get(path)).body).toMatchObject({ status: 503, code: 'service_unavailable' });
  });
});
