/** `expand`: the operator's view of work, and what belongs to it, in the answer about it. */
import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ApiScope } from '#db/access/api-keys.ts';
import { apiKeys, auditLog, orders } from '#db/schema.ts';
import { apiOfFile, changeOrder } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { idOfOrder, move, untilWaiting, wait, waitingCreations } from '#test/support/api/waiting-calls.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const { api, caller } = await apiOfFile();
const work = await makeOwnWork(api, caller);
const others = await makeOwnWork(api, caller);
beforeEach(() => api.database.run((db) => db.delete(auditLog)));

const { create } = waitingCreations(() => caller);
const shown = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

/** What was audited as revealed: action and id. */
async function revealed(): Promise<string[]> {
  const isReveal = inArray(auditLog.action, ['esim.activation_revealed', 'vpn.access_revealed']);
  const rows = await api.database.run((db) => db.select().from(auditLog).where(isReveal));
  return rows.map(({ action, subjectId }) => `${action} ${subjectId}`).toSorted();
}

/** List, id, what can be embedded, and the scope of the operator's view. */
const KINDS = [
  ['orders', work.ids.order, ['operations', 'esim', 'activation'], 'orders:operate'],
  ['topups', work.ids.topup, ['operations', 'esim', 'activation'], 'topups:operate'],
  ['vpn/subscriptions', work.ids.vpn_subscription, ['operations', 'access'], 'vpn:operate'],
  ['cancellations', work.ids.cancellation, ['operations', 'esim'], 'cancellations:operate'],
] as const;

describe.each(KINDS)('work of /v1/%s', (name, id, expansions) => {
  const path = `/v1/${name}/${id}`;

  it('reveals nothing to HEAD, and is read by one statement for it', async () => {
    const expand = `?expand=${expansions.slice(1).join(',')}`;
    for (const address of [path, `/v1/${name}`]) {
      const statements = await statementsOf(async () => {
        expect((await caller.call('HEAD', `${address}${expand}`, {})).status).toBe(200);
      });
      expect(statements.filter((text) => !text.includes('api_keys'))).toHaveLength(1);
    }
    expect(await revealed()).toEqual([]);
  });

  it('shows a shop nothing of the operator, and contains each expansion when it is asked for', async () => {
    const plain = (await caller.get(path)).body as object;
    const names = ['attempts', 'resubmission', 'next_step_at', 'retry_policy'];
    for (const field of [...names, ...expansions]) expect(plain).not.toHaveProperty(field);
    const { operations, ...rest } = (await caller.get(`${path}?expand=operations`)).body as Record<string, object>;
    expect(rest).toEqual(plain);
    expect(Object.keys(operations ?? {}).toSorted()).toEqual([...names, 'attention'].toSorted());
    const everything = await caller.get(`${path}?expand=${expansions.join(',')}`);
    const fields = [...Object.keys(plain), ...expansions.slice(1), 'operations'];
    expect(Object.keys(everything.body as object)).toEqual(fields);
  });

  it('contains the same in lists', async () => {
    const { data } = (await caller.get(`/v1/${name}?expand=${expansions.join(',')}`)).read(shown);
    const one = (await caller.get(`${path}?expand=${expansions.join(',')}`)).body;
    expect(data).toContainEqual(one);
    expect(data).toHaveLength(2);
  });
});

describe('an embedded eSIM', () => {
  it('and its activation data equal the answers of their own calls, and only the data are audited', async () => {
    const { order, esim } = work.ids;
    const answer = await caller.get(`/v1/orders/${order}?expand=esim,activation`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await revealed()).toEqual([`esim.activation_revealed ${esim}`]);
    expect(answer.at('esim')).toEqual((await caller.get(`/v1/esims/${esim}`)).body);
    expect(answer.at('activation')).toEqual((await caller.get(`/v1/esims/${esim}/activation`)).body);
    expect(await revealed()).toHaveLength(2);
  });

  it('is null, without an audit entry, while there is none', async () => {
    const id = (await create(orderInput())).textAt('id');
    const answer = await caller.get(`/v1/orders/${id}?expand=esim,activation`);
    expect(answer.body).toMatchObject({ esim: null, activation: null });
    expect(await revealed()).toEqual([]);
    await api.database.run((db) => db.delete(orders).where(eq(orders.id, id)));
  });

  it('has one audit entry in a list, although several top-ups are for it', async () => {
    const body = { esim_id: work.ids.esim, package_id: 101, external_topup_id: randomUUID() };
    expect((await postOnce(caller, '/v1/topups', body)).status).toBe(202);
    const { data } = (await caller.get('/v1/topups?expand=activation')).read(shown);
    expect(data).toHaveLength(3);
    expect(data.every(({ activation }) => activation !== null)).toBe(true);
    const both = [work, others].map(({ ids }) => `esim.activation_revealed ${ids.esim}`);
    expect(await revealed()).toEqual(both.toSorted());
  });
});

describe('embedded access data', () => {
  it('equal the answer of their own call, and are audited for each subscription', async () => {
    const id = work.ids.vpn_subscription;
    const { data } = (await caller.get('/v1/vpn/subscriptions?expand=access')).read(shown);
    const both = [work, others].map(({ ids }) => `vpn.access_revealed ${ids.vpn_subscription}`);
    expect(await revealed()).toEqual(both.toSorted());
    const own = await caller.get(`/v1/vpn/subscriptions/${id}/access`);
    expect(data.find((each) => each.id === id)?.['access']).toEqual(own.body);
  });
});

describe('an expansion', () => {
  it.each([
    ...KINDS.map(([name, , , operate]) => [name, [operate.replace('operate', 'read')], 'operations', operate]),
    ['orders', ['orders:read'], 'esim', 'esims:read'],
    ['orders', ['orders:read', 'esims:read'], 'esim,activation', 'esims:reveal'],
    ['vpn/subscriptions', ['vpn:read', 'vpn:operate'], 'operations,access', 'vpn:reveal'],
  ] as [string, ApiScope[], string, ApiScope][])(
    'of /v1/%s needs the scope of its own call: a key with %j is refused %s',
    async (name, scopes, expand, missing) => {
      const shop = await api.caller(scopes);
      expect((await shop.get(`/v1/${name}`)).status).toBe(200);
      const last = expand.split(',').at(-1);
      for (const path of [`/v1/${name}`, `/v1/${name}/${KINDS.find(([kind]) => kind === name)?.[1]}`]) {
        expect((await shop.get(`${path}?expand=${expand}`)).body).toMatchObject({
          status: 403,
          missing_scope: missing,
          detail: `\`expand=${last}\` needs the scope ${missing}.`,
        });
      }
      expect(await revealed()).toEqual([]);
    },
  );
});

describe('a page with expansions', () => {
  it.each([
    ['/v1/orders', 'operations', 1],
    ['/v1/orders', 'esim', 2],
    ['/v1/orders', 'operations,esim,activation', 4],
    ['/v1/topups', 'operations,esim,activation', 4],
    ['/v1/vpn/subscriptions', 'operations,access', 3],
  ])('%s?expand=%s needs %i statements for any number of items', async (path, expand, count) => {
    for (const limit of [1, 100]) {
      const sent = await statementsOf(async () => {
        expect((await caller.get(`${path}?limit=${limit}&expand=${expand}`)).status).toBe(200);
      });
      expect([limit, sent.length]).toEqual([limit, count]);
    }
  });
});

describe('a creation with expand', () => {
  /** Delivers the eSIM of other work to an order, as its workflow would. */
  const deliver = async (id: string) => {
    await changeOrder(api, id, { esimId: work.ids.esim });
    await move(api, 'order', id, 'processing');
    await move(api, 'order', id, 'completed');
  };
  const post = (body: object, key: string, expand: string, headers = {}, by = caller) =>
    postOnce(by, `/v1/orders?expand=${expand}`, body, key, headers);

  it('shows the delivered eSIM with its activation data at the end of the wait, audited once', async () => {
    const body = orderInput();
    const answering = post(body, randomUUID(), 'esim,activation,operations', wait(40));
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    await deliver(id);
    const answer = await answering;
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id,
      esim: { id: work.ids.esim },
      activation: { activation_code: expect.stringContaining('A1B2-C3D4') },
      operations: { attempts: 0 },
    });
    expect(await revealed()).toEqual([`esim.activation_revealed ${work.ids.esim}`]);
  });

  it('keeps the answer that repetitions get, byte for byte and without secrets', async () => {
    const body = orderInput();
    const key = randomUUID();
    const first = await create(body, {}, key);
    await deliver(first.textAt('id'));
    expect((await post(body, key, 'activation', wait(1))).at('activation')).not.toBeNull();
    const again = await create(body, {}, key);
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('without a wait, or without the scope, is refused before anything is stored', async () => {
    const body = orderInput();
    const key = randomUUID();
    const refused = await post(body, key, 'esim');
    expect([refused.status, refused.textAt('detail')]).toEqual([
      400,
      'The parameter `expand` needs the header `Prefer: wait=N`: nothing has been bought when the answer comes at once.',
    ]);
    const shop = await api.caller(['orders:write']);
    expect((await post(body, key, 'esim', wait(1), shop)).body).toMatchObject({ missing_scope: 'esims:read' });
    const isIts = eq(orders.externalOrderId, body.external_order_id);
    expect(await api.database.run((db) => db.$count(orders, isIts))).toBe(0);
  });

  it('reveals nothing when the scope was taken from the key during the wait', async () => {
    const shop = await api.caller(['orders:write', 'orders:read', 'esims:reveal']);
    const body = orderInput();
    const answering = post(body, randomUUID(), 'activation', wait(40), shop);
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    const [order] = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, id)));
    const scopes: ApiScope[] = ['orders:write', 'orders:read'];
    await api.database.run((db) => db.update(apiKeys).set({ scopes }).where(eq(apiKeys.id, order!.apiKeyId)));
    await deliver(id);
    expect((await answering).status).toBe(401);
    expect(await revealed()).toEqual([]);
  });
});

describe('a read that waits with expand', () => {
  it('discloses and audits once, when the wait has ended', async () => {
    const id = (await create(orderInput())).textAt('id');
    const answering = caller.get(`/v1/orders/${id}?wait=40&expand=activation`);
    await untilWaiting(caller, 1);
    await changeOrder(api, id, { esimId: work.ids.esim });
    await move(api, 'order', id, 'processing');
    expect(await revealed()).toEqual([]);
    await move(api, 'order', id, 'completed');
    expect((await answering).at('activation', 'esim_id')).toBe(work.ids.esim);
    expect(await revealed()).toEqual([`esim.activation_revealed ${work.ids.esim}`]);
  });
});
