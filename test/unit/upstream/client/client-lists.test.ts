import { describe, expect, it } from 'vitest';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import { PACKAGE, TRANSACTION } from '#test/support/service-records.ts';
import {
  closedTestClients,
  jsonAnswer as json,
  ORDER,
  RECENT,
  refusal,
  type Answer,
} from '#test/support/upstream-client.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';

const clientOf = closedTestClients();

/** A list in pages of two, with cursors. */
function pages(items: readonly unknown[]): Answer {
  return ({ target }) => {
    const from = Number(new URL(target, 'http://service').searchParams.get('cursor') ?? 0);
    const next = from + 2 < items.length ? String(from + 2) : null;
    return json({ data: items.slice(from, from + 2), next_cursor: next });
  };
}

const PACKAGES = Array.from({ length: 5 }, (_item, id) => ({ ...PACKAGE, id }));

describe('lists', () => {
  it('are read with all their pages', async () => {
    const { client, targets } = await clientOf(pages(PACKAGES));
    const items = [0, 1, 2, 3, 4].map((id) => ({ id }));
    expect(await client.listPackages()).toMatchObject({ ok: true, value: { items, complete: true } });
    expect(targets().slice(1)).toEqual([
      '/sandbox/packages?limit=100',
      '/sandbox/packages?limit=100&cursor=2',
      '/sandbox/packages?limit=100&cursor=4',
    ]);
  });

  it('are read without the parameters that the service refuses, and filtered here', async () => {
    const omitted = { external_order_id: null, limit: null, since: null };
    Object.assign(VARIANTS.parameters, omitted);
    try {
      const orders = [ORDER, { ...ORDER, id: 'so_2', external_order_id: 'shop-2' }];
      const { client, targets } = await clientOf(({ target }) =>
        json({ data: target.includes('wallet') ? [TRANSACTION] : orders, next_cursor: null }),
      );
      const found = (...items: object[]) => ({ value: { items, complete: true } });
      expect(await client.findOrdersByReference('shop-2')).toMatchObject(found({ id: 'so_2' }));
      expect(await client.findOrdersByReference('shop-3')).toMatchObject(found());
      expect(await client.listWalletTransactions({ since: 0 })).toMatchObject({ value: { complete: true } });
      expect(targets().slice(1)).toEqual(['/sandbox/orders', '/sandbox/orders', '/sandbox/wallet/transactions']);
    } finally {
      for (const name of Object.keys(omitted)) Reflect.deleteProperty(VARIANTS.parameters, name);
    }
  });

  it.each<[string, string, readonly unknown[], number, boolean]>([
    ['ours as a number', '20261128', [20_261_128], 1, true],
    ['ours in another case', 'Shop-Order-17', ['shop-order-17'], 0, false],
    ['ours, cut at its end', 'shop-order-17', ['shop-order'], 0, false],
    ['that of an earlier attempt', 'shop-order-17~2', ['shop-order-17'], 0, true],
    ['others, although the service was asked for ours', 'shop-1', ['shop-1', 'shop-2', 'shop-1', 'shop-10'], 2, true],
    ['one that is missing', 'shop-1', [undefined], 0, false],
  ])(
    'filtered by a reference prove absence only without another form of it: %s',
    async (_name, ours, listed, found, complete) => {
      const orders = listed.map((reference, index) => ({ ...ORDER, id: `so_${index}`, external_order_id: reference }));
      const { client, targets } = await clientOf(pages(orders));
      const result = await client.findOrdersByReference(ours);
      expect(result.ok && [result.value.items.length, result.value.complete]).toEqual([found, complete]);
      const query = new URLSearchParams({ external_order_id: ours, limit: '100' });
      expect(targets()[1]).toBe(`/sandbox/orders?${query.toString()}`);
    },
  );

  it('of top-ups prove no absence when all name one other eSIM, which may be ours under another id', async () => {
    const topup = { id: 't_1', esim_id: 'uuid-1', status: 'completed' };
    const listed = [topup];
    const { client } = await clientOf(() => json({ data: listed, next_cursor: null }));
    expect(await client.findTopupsOfEsim('e_1')).toMatchObject({ value: { items: [], complete: false } });
    listed.push({ ...topup, id: 't_2', esim_id: 'uuid-2' });
    expect(await client.findTopupsOfEsim('e_1')).toMatchObject({ value: { items: [], complete: true } });
  });

  it('are refused beyond their limit, and single records beyond a smaller one', async () => {
    const ofBytes = (bytes: number) => json({ ...ORDER, data: [], note: 'x'.repeat(bytes) });
    const { client } = await clientOf(({ target }) =>
      ofBytes(target.includes('/packages') ? ANSWER_LIMITS.listBytes : ANSWER_LIMITS.recordBytes),
    );
    const tooLarge = (bytes: number) => ({
      failure: 'unreadable_answer',
      detail: `The answer has more than ${bytes} bytes.`,
    });
    expect(await client.listPackages()).toMatchObject(tooLarge(8_388_608));
    expect(await client.getOrder('so_1')).toMatchObject(tooLarge(1_048_576));
  });

  it('fail as a whole when one page fails', async () => {
    const paged = pages(PACKAGES);
    const { client } = await clientOf((request) =>
      request.target.includes('cursor=4') ? refusal(500, 'x') : paged(request),
    );
    expect(await client.listPackages()).toMatchObject({ failure: 'server_error' });
  });

  it('are incomplete when the service never ends them', async () => {
    let page = 0;
    const endless = await clientOf(() => json({ data: [], next_cursor: String((page += 1)) }));
    expect(await endless.client.listPackages()).toMatchObject({ ok: true, value: { complete: false } });
    expect(endless.targets()).toHaveLength(1 + 100);

    const circle = await clientOf(() => json({ data: [], next_cursor: 'same' }));
    expect(await circle.client.listPackages()).toMatchObject({ ok: true, value: { complete: false } });
    expect(circle.targets()).toHaveLength(1 + 2);
  });

  it.each([
    ['/orders', 'created_at', 'listRecentOrders'],
    ['/topups', 'created_at', 'listRecentTopups'],
    ['/vpn/subscriptions', 'started_at', 'listRecentVpnSubscriptions'],
  ] as const)(
    'of the newest items of %s are read unfiltered, as far back as requested, within the page limit',
    async (path, time, call) => {
      const timeOf = (day: number | null) => (day === null ? null : new Date(Date.UTC(2025, 5, day)).toISOString());
      const listed = (...days: (number | null)[]) =>
        pages(days.map((day, index) => ({ id: index + 1, status: 'processing', [time]: timeOf(day) })));
      const first = `/sandbox${path}?limit=100`;
      const short = await clientOf(listed(3, null));
      expect(await short.client[call](RECENT)).toMatchObject({ value: { items: [{}, {}], complete: true } });
      expect(short.targets().slice(1)).toEqual([first]);
      const old = await clientOf(listed(3, -1, -2, -3));
      const items = [{ id: '1' }, { id: '2' }];
      expect(await old.client[call](RECENT)).toMatchObject({ value: { items, complete: false } });
      expect(old.targets().slice(1)).toEqual([first]);
      const many = await clientOf(listed(9, 8, 7, 6, 5, 4));
      expect(await many.client[call](RECENT)).toMatchObject({ value: { items: [{}, {}, {}, {}], complete: false } });
      expect(many.targets().slice(1)).toEqual([first, `${first}&cursor=2`]);
    },
  );

  it('of wallet transactions are not filtered, because a debit without a reference may match', async () => {
    const { client, targets } = await clientOf(pages([TRANSACTION, { ...TRANSACTION, external_order_id: 'shop-2' }]));
    const result = await client.listWalletTransactions({ reference: 'shop-1' });
    expect(result.ok && result.value.items).toHaveLength(2);
    await client.listWalletTransactions({ since: Date.UTC(2025, 5, 1) });
    expect(targets().slice(1)).toEqual([
      '/sandbox/wallet/transactions?external_order_id=shop-1&limit=100',
      '/sandbox/wallet/transactions?since=2025-06-01T00%3A00%3A00.000Z&limit=100',
    ]);
  });
});
