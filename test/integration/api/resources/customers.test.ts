/** The reference of the end customer, through everything that the customer has. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deliveredEsimId } from '#crypto/derived-ids.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { retireKey } from '#db/connection/encryption-keys.ts';
import { encryptionKeys } from '#db/schema.ts';
import { apiOfFile, auditOf } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { deliver, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { vpnInput } from '#test/support/api/order-calls.ts';
import { startTestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { everythingStored, foundIn } from '#test/support/plain-text.ts';

const { api, caller } = await apiOfFile();

const newCustomer = () => `zoë.${randomUUID()}@example.com`;
const create = async (path: string, body: object): Promise<HttpAnswer> => {
  const answer = await postOnce(caller, path, body);
  expect(answer.status, answer.text).toBe(202);
  return answer;
};
const order = (fields: object) => create('/v1/orders', { package_id: 101, external_order_id: randomUUID(), ...fields });
const found = async (list: string, customer: string): Promise<unknown[]> => {
  const answer = await caller.get(`/v1/${list}?customer_reference=${encodeURIComponent(customer)}`);
  return answer.read(z.object({ data: z.array(z.object({ id: z.string() })) })).data.map(({ id }) => id);
};

/** A delivered eSIM. */
async function newEsim(fields: object): Promise<string> {
  const id = (await order(fields)).textAt('id');
  await deliver(api, id);
  return deliveredEsimId(api.keyRing, id);
}

const change = (esim: string, customer: string | null) =>
  caller.patch(`/v1/esims/${esim}`, { customer_reference: customer });

describe('the reference of a customer', () => {
  it('is that of an order, its eSIM, the top-ups and cancellations of the eSIM, and of VPN subscriptions', async () => {
    const customer = newCustomer();
    const bought = await order({ customer_reference: customer });
    const id = bought.textAt('id');
    expect(bought.at('customer_reference')).toBe(customer);
    expect((await caller.get(`/v1/orders/${id}`)).at('customer_reference')).toBe(customer);
    await deliver(api, id);
    const esim = deliveredEsimId(api.keyRing, id);
    expect((await caller.get(`/v1/esims/${esim}`)).at('customer_reference')).toBe(customer);
    const topup = await create('/v1/topups', { esim_id: esim, package_id: 102 });
    expect(topup.at('customer_reference')).toBe(customer);
    const cancellation = await create(`/v1/esims/${esim}/cancel`, {});
    const vpn = await create('/v1/vpn/subscriptions', vpnInput({ customer_reference: customer }));
    expect(vpn.at('customer_reference')).toBe(customer);

    for (const [list, own] of [
      ['orders', id],
      ['esims', esim],
      ['topups', topup.at('id')],
      ['cancellations', cancellation.at('id')],
      ['vpn/subscriptions', vpn.at('id')],
    ] as const) {
      expect([list, await found(list, customer)]).toEqual([list, [own]]);
      expect([list, await found(list, customer.toUpperCase())]).toEqual([list, []]);
    }
  });

  it('of an item of a batch is that of each of its orders', async () => {
    const [one, two] = [newCustomer(), newCustomer()];
    const batch = await create('/v1/order-batches', {
      external_batch_id: randomUUID(),
      items: [
        { package_id: 101, quantity: 2, customer_reference: one },
        { package_id: 101, customer_reference: two },
        { package_id: 101 },
      ],
    });
    const orders = await ordersOfBatch(api, batch.textAt('id'));
    const read = await Promise.all(orders.map(async ({ id }) => caller.get(`/v1/orders/${id}`)));
    expect(read.map((each) => each.at('customer_reference'))).toEqual([one, one, two, null]);
    expect(await found('orders', two)).toEqual([orders[2]?.id]);
  });

  it('of a top-up may be another than that of its eSIM', async () => {
    const [esim, customer] = [await newEsim({ customer_reference: newCustomer() }), newCustomer()];
    const topup = await create('/v1/topups', { esim_id: esim, package_id: 102, customer_reference: customer });
    expect(topup.at('customer_reference')).toBe(customer);
    expect(await found('topups', customer)).toEqual([topup.at('id')]);
  });

  it('is nowhere in plain text: no table, no event, no log', async () => {
    const [bought, changed] = [newCustomer(), newCustomer()];
    const esim = await newEsim({ customer_reference: bought });
    await create('/v1/topups', { esim_id: esim, package_id: 102 });
    await change(esim, changed);
    await found('orders', bought);
    await api.publish();
    const stored = await everythingStored(api.databaseUrl);
    expect(stored).toContain(esim);
    expect(foundIn(stored, { bought, changed })).toEqual([]);
    expect(foundIn(api.log.join('\n'), { bought, changed })).toEqual([]);
  });
});

describe('the customer of an eSIM', () => {
  it('can be changed and removed; its order keeps its own, and each change is audited without the reference', async () => {
    const [first, second] = [newCustomer(), newCustomer()];
    const esim = await newEsim({ customer_reference: first });
    const answer = await change(esim, second);
    expect([answer.status, answer.at('customer_reference'), answer.at('id')]).toEqual([200, second, esim]);
    expect([await found('esims', first), await found('esims', second)]).toEqual([[], [esim]]);
    expect(await found('orders', first)).toHaveLength(1);
    expect((await create('/v1/topups', { esim_id: esim, package_id: 102 })).at('customer_reference')).toBe(second);

    await change(esim, second);
    expect((await change(esim, null)).at('customer_reference')).toBeNull();
    expect(await found('esims', second)).toEqual([]);
    const entry = { action: 'esim.customer_reference_changed', reason: null };
    expect(await auditOf(api, esim)).toMatchObject([entry, entry]);
  });
});

describe('after a rotation of the encryption keys', () => {
  it('customers are still read and found, and a key that a reference needs is not retired', async () => {
    const former = { id: 'test', key: Buffer.alloc(32, 7) };
    await using own = await startTestApi();
    const rotated = new KeyRing([{ id: 'new', key: Buffer.alloc(32, 8) }, former]);
    const customer = newCustomer();
    expect(rotated.hash(customer, 'customer_reference')).toEqual(own.keyRing.hash(customer, 'customer_reference'));
    const body = { package_id: 101, external_order_id: 'shop-1', customer_reference: customer };
    expect((await postOnce(await own.caller(), '/v1/orders', body)).status).toBe(202);
    const retired = await own.database.transaction(async (tx) => {
      await tx.insert(encryptionKeys).values({ keyId: 'test', checkValue: Buffer.alloc(1), makesHashes: false });
      return retireKey(tx, 'test');
    });
    expect(retired).toMatchObject({
      kind: 'in_use',
      values: expect.arrayContaining([{ table: 'orders', column: 'encrypted_customer_reference' }]),
    });
  });
});
