import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { apiOfFile, changeOrder } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const { api, caller: desk } = await apiOfFile();
const work = await makeOwnWork(api, desk);

const post = (path: string, body: object) => postOnce(desk, path, body);

describe('the audit log', () => {
  it('contains every reveal and action, with actor, action and reason', async () => {
    const { order, esim, shareLink, vpn_subscription: vpn, webhookEndpoint: endpoint } = work.ids;
    const ofEsim = ['activation', 'qr.svg', 'qr.png'].map((what) => `esims/${esim}/${what}`);
    for (const path of [...ofEsim, `vpn/subscriptions/${vpn}/access`])
      expect((await desk.get(`/v1/${path}`)).status).toBe(200);
    await changeOrder(api, order, { status: 'held', failureClass: 'purchases_paused' });
    expect((await post(`/v1/orders/${order}/retry`, { reason: 'asked to' })).status).toBe(200);
    const pause = await post('/v1/purchase-gate/pauses', { reason: 'stock-taking' });
    await desk.delete(`/v1/purchase-gate/pauses/${pause.textAt('id')}?reason=done`);
    await post('/v1/service/webhook-secret', {});

    const { data } = (await desk.get('/v1/audit-log?limit=100')).read(z.object({ data: z.array(z.looseObject({})) }));
    const acts = data.map((each) => ['action', 'subject_kind', 'subject_id', 'reason'].map((name) => each[name]));
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
