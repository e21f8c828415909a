import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { orders } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const api = disposedAtEnd(await startTestApi());
const desk = await api.caller();
const work = await makeOwnWork(api, desk);

const entries = z.object({
  data: z.array(
    z.looseObject({
      action: z.string(),
      subject_kind: z.string(),
      subject_id: z.string(),
      reason: z.string().nullable(),
    }),
  ),
});
const post = (path: string, body: object) => postOnce(desk, path, body);

describe('the audit log', () => {
  it('contains every reveal and action, with actor, action and reason', async () => {
    const { order, esim, shareLink, vpn_subscription: vpn, webhookEndpoint: endpoint } = work.ids;
    for (const path of [
      `esims/${esim}/activation`,
      `esims/${esim}/qr.svg`,
      `esims/${esim}/qr.png`,
      `vpn/subscriptions/${vpn}/access`,
    ]) {
      expect((await desk.get(`/v1/${path}`)).status).toBe(200);
    }
    await api.database.run((db) =>
      db.update(orders).set({ status: 'held', failureClass: 'purchases_paused' }).where(eq(orders.id, order)),
    );
    expect((await post(`/v1/orders/${order}/retry`, { reason: 'asked to' })).status).toBe(200);
    const pause = await post('/v1/purchase-gate/pauses', { reason: 'stock-taking' });
    await desk.delete(`/v1/purchase-gate/pauses/${pause.textAt('id')}?reason=done`);
    await post('/v1/service/webhook-secret', {});

    const { data } = (await desk.get('/v1/audit-log?limit=100')).read(entries);
    const acts = data.map((each) => [each.action, each.subject_kind, each.subject_id, each.reason]);
    expect(acts.toReversed()).toEqual([
      ['share_link.create', 'share_link', shareLink, `${esim}, until 2030-02-07T12:00:00.000Z`],
      ['webhook_endpoint.create', 'webhook_endpoint', endpoint, 'url: https://shop.example.com; event_types: *'],
      ['esim.activation_revealed', 'esim', esim, null],
      ['esim.qr_revealed', 'esim', esim, null],
      ['esim.qr_revealed', 'esim', esim, null],
      ['vpn.access_revealed', 'vpn_subscription', vpn, null],
      ['order.retry', 'order', order, 'asked to'],
      ['gate.pause', 'pause', pause.textAt('id'), 'stock-taking'],
      ['gate.release', 'pause', pause.textAt('id'), 'done'],
      ['webhook_secret.create', 'webhook_secret', 'sandbox', null],
    ]);
    expect((await desk.get('/v1/audit-log?limit=1')).at('data', 0, 'api_key')).toMatchObject({ name: 'test' });
  });
});
