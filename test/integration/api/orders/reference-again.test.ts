/** A reference whose work ended without buying can be used again; every other reference makes work once. */
import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attemptKey } from '#crypto/derived-ids.ts';
import { orders, outbox, timeline } from '#db/schema.ts';
import { closeCase, openCase } from '#db/work/cases.ts';
import { workTable } from '#db/work/rows.ts';
import { FREES_REFERENCE } from '#domain/work/identifiers.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { statusesOf, type WorkStatus } from '#domain/work/lifecycle.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { vpnInput } from '#test/support/api/order-calls.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { acceptTestCancellation, endTestOrder } from '#test/support/work/order-rows.ts';

const { api, caller } = await apiOfFile();
const { esimId } = await acceptTestCancellation(api.database);

type Kind = Exclude<WorkKind, 'cancellation'>;

const FIELDS: Readonly<Record<Kind, object>> = {
  order: { package_id: 101 },
  topup: { package_id: 101, esim_id: esimId },
  vpn_subscription: vpnInput(),
};
const REFERENCES = {
  order: 'external_order_id',
  topup: 'external_topup_id',
  vpn_subscription: 'external_subscription_id',
} as const satisfies Record<Kind, string>;
const KINDS_WITH_REFERENCE = Object.keys(FIELDS) as Kind[];

const idOrNull = z.string().nullable();
const shown = z.looseObject({ id: z.string(), status: z.string(), replaces: idOrNull, replaced_by: idOrNull });

const request = (kind: Kind, reference: string, key?: string, by: HttpClient = caller) =>
  postOnce(by, KINDS[kind].path, { ...FIELDS[kind], [REFERENCES[kind]]: reference }, key);

async function create(kind: Kind, reference: string, key?: string, by?: HttpClient) {
  const answer = await request(kind, reference, key, by);
  expect(answer.status, answer.text).toBe(202);
  return answer.read(shown);
}

const read = async (kind: Kind, id: string) => (await caller.get(`${KINDS[kind].path}/${id}`)).read(shown);

/** Sets the status; a completed order has an eSIM. */
async function end(kind: Kind, id: string, status: WorkStatus): Promise<void> {
  const table = workTable<WorkKind>(kind);
  const ended = { status, esimId: sql`coalesce(${table.esimId}, ${esimId})` };
  await api.database.run((db) => db.update(table).set(ended).where(eq(table.id, id)));
}

const reference = () => `again-${randomUUID()}`;

describe.each(KINDS_WITH_REFERENCE)('the reference of %s', (kind) => {
  it.each(FREES_REFERENCE)('that has ended as %s makes new work, and both name each other', async (status) => {
    const name = reference();
    const first = await create(kind, name);
    await end(kind, first.id, status);
    const second = await create(kind, name);
    expect(second).toMatchObject({ status: 'accepted', replaces: first.id, replaced_by: null });
    expect(second.id).not.toBe(first.id);
    expect(await read(kind, first.id)).toMatchObject({ status, replaces: null, replaced_by: second.id });
    expect(attemptKey(api.keyRing, { kind, id: second.id }, 1)).not.toBe(
      attemptKey(api.keyRing, { kind, id: first.id }, 1),
    );
    await end(kind, second.id, 'failed');
    const third = await create(kind, name);
    expect(third.replaces).toBe(second.id);
    expect(await read(kind, first.id)).toMatchObject({ replaced_by: second.id });
  });

  it.each(statusesOf(kind).filter((status) => !(FREES_REFERENCE as readonly string[]).includes(status)))(
    'is taken while the work has the status %s',
    async (status) => {
      const name = reference();
      const first = await create(kind, name);
      await end(kind, first.id, status);
      const second = await request(kind, name);
      const refusal = { status: 409, code: `${REFERENCES[kind]}_taken`, existing: { id: first.id } };
      expect(second.body).toMatchObject(refusal);
    },
  );

  it('makes new work once, however many requests ask for it at the same moment', async () => {
    const name = reference();
    const first = await create(kind, name);
    await end(kind, first.id, 'failed');
    const answers = await Promise.all(Array.from({ length: 20 }, () => request(kind, name)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  });
});

describe('a free reference', () => {
  it('makes the same work again when PostgreSQL has lost it', async () => {
    const name = reference();
    const first = await create('order', name);
    await end('order', first.id, 'failed');
    const second = await create('order', name);
    await api.database.run((db) => db.delete(orders).where(eq(orders.id, second.id)));
    await api.database.run((db) => db.delete(outbox).where(eq(outbox.subjectId, second.id)));
    expect((await create('order', name)).id).toBe(second.id);
  });

  it('is taken while it is in doubt whether the old order was bought', async () => {
    const name = reference();
    const { id } = await create('order', name);
    await endTestOrder(api.database, id);
    await api.database.run((db) => openCase(db, { kind: 'order', id }, 'contradiction', 'It was sold after all.'));
    expect((await request('order', name)).status).toBe(409);
    await api.database.run((db) => closeCase(db, { kind: 'order', id }, 'contradiction', 'It was not.', new Date()));
    expect((await create('order', name)).replaces).toBe(id);
  });

  it('makes nothing for a late repetition of an old request, whose answer is no longer stored', async () => {
    const name = reference();
    const keys = [randomUUID(), randomUUID()] as const;
    const first = await create('order', name, keys[0]);
    await endTestOrder(api.database, first.id, { status: 'abandoned' });
    const second = await create('order', name, keys[1]);
    await endTestOrder(api.database, second.id, { status: 'abandoned' });
    await api.database.run((db) => db.execute(sql`delete from idempotency_keys`));
    for (const key of keys) expect((await request('order', name, key)).status).toBe(409);
    const another = await api.caller();
    expect((await create('order', name, keys[0], another)).replaces, 'the key of another caller').toBe(second.id);
  });

  it('is taken for a key that may not see the old order, and its successor is hidden from the old owner', async () => {
    const name = reference();
    const owner = await api.caller(undefined, { ownWorkOnly: true });
    const first = await create('order', name, randomUUID(), owner);
    await endTestOrder(api.database, first.id);
    const stranger = await api.caller(undefined, { ownWorkOnly: true });
    const refused = await request('order', name, randomUUID(), stranger);
    expect(refused.status).toBe(409);
    expect(refused.text).not.toContain(first.id);
    const second = await create('order', name);
    expect((await read('order', first.id)).replaced_by).toBe(second.id);
    expect((await owner.get(`/v1/orders/${first.id}`)).read(shown).replaced_by).toBeNull();
    expect((await owner.get(`/v1/orders?external_order_id=${name}`)).text).not.toContain(second.id);
  });

  it('selects all orders that had it, and its eSIM is that of the order that bought', async () => {
    const name = reference();
    const first = await create('order', name);
    await endTestOrder(api.database, first.id);
    const second = await create('order', name);
    const page = z.object({ data: z.array(shown) });
    const list = (await caller.get(`/v1/orders?external_order_id=${name}`)).read(page);
    expect(list.data.map(({ id }) => id).toSorted()).toEqual([first.id, second.id].toSorted());
    expect((await caller.get(`/v1/esims?external_order_id=${name}`)).body).toMatchObject({ data: [] });
    const entries = await api.database.run((db) => db.select().from(timeline).where(eq(timeline.subjectId, second.id)));
    expect(entries).toMatchObject([{ event: 'order.accepted', detail: { replaces: first.id } }]);
  });

  it('has one order that may buy, also if the code would write a second one', async () => {
    const name = reference();
    const { id } = await create('order', name);
    await expect(
      api.database.run((db) =>
        db.execute(sql`insert into orders (id, api_key_id, external_order_id, package_id, reference_use)
          select 'ord_second', api_key_id, external_order_id, package_id, 2 from orders where id = ${id}`),
      ),
    ).rejects.toMatchObject({ cause: { constraint: 'orders_reference_in_use' } });
  });
});
