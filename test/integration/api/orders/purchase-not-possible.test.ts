import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderCalls, orderInput, problemOf, vpnInput } from '#test/support/api/order-calls.ts';
import { idleService, startTestApi, TEST_PACKAGES, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ServicePackage } from '#upstream/contract.ts';

type Packages = ServiceResult<Listing<ServicePackage>>;
const listing = (items = TEST_PACKAGES, complete = true): Packages => ({
  ok: true,
  status: 200,
  value: { items, complete },
});
const UNREACHABLE = { ok: false, kind: 'failure', failure: 'not_sent', detail: 'No connection.' } as const;

let api: TestApi;
let caller: HttpClient;
let reads: number;
/** What the service answers to a read of its packages. */
let packages: () => Promise<Packages>;

beforeEach(async () => {
  reads = 0;
  packages = async () => listing();
  const listPackages = async () => {
    reads += 1;
    return packages();
  };
  api = await startTestApi({ service: { ...idleService, listPackages, listTopupOptions: listPackages } });
  caller = await api.caller();
});
afterEach(() => api[Symbol.asyncDispose]());

const { create } = orderCalls(() => caller);
const inEuro = { amount: '10.00', currency: 'EUR' };
const inDollar = { amount: '10.00', currency: 'USD' };

describe('an order that cannot be bought', () => {
  const UNKNOWN = 'is not the id of a package that is sold now; `GET /v1/packages` lists them.';
  const UNSOLD = 'names a package that is not sold now. With `if_unavailable: hold` the purchase waits until it is.';
  it.each([
    [{ package_id: 77_777 }, `The field \`package_id\` ${UNKNOWN}`],
    [{ package_id: 103 }, `The field \`package_id\` ${UNSOLD}`],
    [{ max_price: inDollar }, 'The field `max_price.currency` must be EUR, the currency of the price.'],
    [{ package_id: 103, max_price: inDollar }, `The field \`package_id\` ${UNSOLD} 1 more error is in \`errors\`.`],
  ])('is refused before it is stored: %j', async (more, detail) => {
    const answer = await create(orderInput(more));
    expect(problemOf(answer)).toMatchObject({ status: 422, code: 'purchase_not_possible', detail });
    expect(answer.at('read_at')).toBe(new Date(api.clock.now).toISOString());
    expect(await api.database.run((db) => db.$count(orders))).toBe(0);
  });

  it('leaves its reference and its key free', async () => {
    const key = randomUUID();
    const input = orderInput();
    expect((await create({ ...input, package_id: 77_777 }, key)).status).toBe(422);
    expect((await create(input, key)).status).toBe(202);
  });

  it('is accepted with `if_unavailable: hold` while it is not sold, and not for an unknown package', async () => {
    expect((await create(orderInput({ package_id: 103, if_unavailable: 'hold' }))).status).toBe(202);
    expect((await create(orderInput({ package_id: 77_777, if_unavailable: 'hold' }))).status).toBe(422);
  });
});

describe('a repeated request', () => {
  it('gets its answer and the existing order, although the package is gone meanwhile', async () => {
    const key = randomUUID();
    const input = orderInput();
    const first = await create(input, key);
    packages = async () => listing([]);
    api.clock.now += 600_000;
    expect((await create(orderInput())).status).toBe(422);
    expect((await create(input, key)).body).toEqual(first.body);
    const other = await create(input);
    expect([other.status, other.at('existing', 'id')]).toEqual([409, first.at('id')]);
  });
});

describe('the offers of the service', () => {
  it('are read once for many orders, and again after half a minute', async () => {
    packages = async () => listing([]);
    expect((await create(orderInput())).status).toBe(422);
    // The package appears. The reading of half a minute ago does not refuse it.
    packages = async () => listing();
    api.clock.now += 30_000;
    expect((await create(orderInput())).status).toBe(202);
    api.clock.now += 29_999;
    packages = async () => listing([]);
    expect((await create(orderInput())).status).toBe(202);
    expect(reads).toBe(2);
    // The package is gone. An older reading does not let it pass.
    api.clock.now += 1;
    expect((await create(orderInput())).status).toBe(422);
    expect(reads).toBe(3);
  });

  it('refuse nothing when their list is not known to be complete', async () => {
    packages = async () => listing(TEST_PACKAGES, false);
    expect((await create(orderInput({ package_id: 77_777 }))).status).toBe(202);
  });

  it('refuse nothing while they cannot be read, and delay one order in five seconds', async () => {
    packages = async () => UNREACHABLE;
    expect((await create(orderInput({ package_id: 77_777 }))).status).toBe(202);
    expect((await create(orderInput({ package_id: 77_777 }))).status).toBe(202);
    expect(reads).toBe(1);
    api.clock.now += 5_000;
    packages = async () => listing();
    expect((await create(orderInput({ package_id: 77_777 }))).status).toBe(422);
  });

  it('refuse nothing when the service does not answer within a second', async () => {
    packages = () => new Promise(() => undefined);
    expect((await create(orderInput({ package_id: 77_777 }))).status).toBe(202);
  });
});

describe('a top-up and a VPN subscription', () => {
  const topUp = async (packageId: number, esimId: string) =>
    postOnce(caller, '/v1/topups', { esim_id: esimId, package_id: packageId, max_price: inEuro });

  it('of a package that is no option of the eSIM is refused', async () => {
    const { esim } = (await makeOwnWork(api, caller)).ids;
    const answer = await topUp(77_777, esim);
    expect([answer.status, answer.at('detail')]).toEqual([
      422,
      'The field `package_id` is not a top-up option of this eSIM; `GET /v1/esims/{id}/topup-options` lists them.',
    ]);
    expect((await topUp(101, esim)).status).toBe(202);
  });

  it('of an eSIM whose options cannot be read is accepted, and the next one is checked all the same', async () => {
    const { esim } = (await makeOwnWork(api, caller)).ids;
    packages = async () => ({ ...UNREACHABLE, failure: 'invalid_request' });
    expect((await topUp(77_777, esim)).status).toBe(202);
    packages = async () => listing();
    expect((await topUp(77_777, esim)).status).toBe(422);
  });

  it('of an unknown plan, or with a limit in another currency, is refused', async () => {
    const input = vpnInput();
    const subscribe = (more: object) => postOnce(caller, '/v1/vpn/subscriptions', { ...input, ...more });
    for (const [more, field] of [
      [{ vpn_plan_id: 8 }, 'vpn_plan_id'],
      [{ max_price: inDollar }, 'max_price.currency'],
      [{ customer_price: inDollar }, 'customer_price.currency'],
    ] as const) {
      const refused = await subscribe(more);
      expect([refused.status, refused.at('errors', 0, 'field')]).toEqual([422, field]);
    }
    expect((await subscribe({ max_price: inEuro })).status).toBe(202);
  });
});

describe('a new price limit', () => {
  const limit = (id: string, max_price: object) =>
    caller.patch(`/v1/orders/${id}/limit`, { reason: 'Agreed.', max_price });

  it('in another currency than the price is refused, for one order and for several', async () => {
    const id = (await create(orderInput({ max_price: inEuro }))).textAt('id');
    const refused = await limit(id, inDollar);
    expect([refused.status, refused.at('refusal')]).toEqual([409, 'other_currency']);
    expect(refused.textAt('detail')).toContain('The limit is in another currency than the price');
    const many = { action: 'limit', max_price: inDollar, reason: 'Agreed.', filter: { ids: [id] }, dry_run: true };
    const lines = await caller.post('/v1/orders/bulk-actions', many);
    expect([lines.at('data', 0, 'result'), lines.at('data', 0, 'refusal')]).toEqual(['refused', 'other_currency']);
    expect((await limit(id, { amount: '11.00', currency: 'EUR' })).status).toBe(200);
  });

  it('is accepted while the service cannot be asked for the price', async () => {
    packages = async () => UNREACHABLE;
    const id = (await create(orderInput({ max_price: inEuro }))).textAt('id');
    expect((await limit(id, inDollar)).status).toBe(200);
  });
});
