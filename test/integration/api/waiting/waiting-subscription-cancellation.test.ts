import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { vpnSubscriptions } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { move, untilWaiting, wait } from '#test/support/api/waiting-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const seen = ({ status, headers }: HttpAnswer) => [
  status,
  ...['location', 'retry-after', 'preference-applied'].map((name) => headers.get(name)),
];

describe('the cancellation of a VPN subscription', () => {
  /** An active one, as its workflow leaves it. @returns its address. */
  async function active(): Promise<{ id: string; path: string }> {
    const body = {
      vpn_plan_id: 7,
      external_subscription_id: `vpn-${randomUUID()}`,
      customer_reference: 'C-1',
      customer_price: { amount: '5.99', currency: 'EUR' },
    };
    const id = (await postOnce(caller, '/v1/vpn/subscriptions', body)).textAt('id');
    await move(api, 'vpn_subscription', id, 'active');
    const completed = { completedAt: new Date(TEST_NOW) };
    await api.database.run((db) => db.update(vpnSubscriptions).set(completed).where(eq(vpnSubscriptions.id, id)));
    return { id, path: `/v1/vpn/subscriptions/${id}` };
  }

  it('with Prefer: wait returns 200 when the subscription has ended', async () => {
    const { id, path } = await active();
    const ending = caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(40) });
    await untilWaiting(caller, 1);
    await move(api, 'vpn_subscription', id, 'cancelling');
    await move(api, 'vpn_subscription', id, 'cancelled');
    const answer = await ending;
    expect([...seen(answer), answer.at('status')]).toEqual([200, path, null, 'wait=40', 'cancelled']);
  });

  it('returns 202 with address and Retry-After, at once or at the end of its wait', async () => {
    const { path } = await active();
    const cancel = async (headers = {}) => seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers }));
    expect(await cancel()).toEqual([202, path, '2', null]);
    // Already requested, with the same answer.
    expect(await cancel()).toEqual([202, path, '2', null]);
    expect(await cancel(wait(1))).toEqual([202, path, '2', 'wait=1']);
  });

  it('needs no reason, and a missing one appears in neither timeline nor audit log', async () => {
    const ended = async (body?: object) => {
      const { id, path } = await active();
      expect((await caller.post(`${path}/cancel`, body)).status).toBe(202);
      const timeline = await caller.get(`${path}/timeline`);
      const audited = await caller.get(`/v1/audit-log?action=vpn_subscription.cancel&subject_id=${id}`);
      expect(audited.at('data', 1)).toBeUndefined();
      return [/The customer ends the subscription[^"]*/.exec(timeline.text)?.[0], audited.at('data', 0, 'reason')];
    };
    expect(await ended()).toEqual(['The customer ends the subscription.', null]);
    expect(await ended({})).toEqual(['The customer ends the subscription.', null]);
    expect(await ended({ reason: 'Moved.' })).toEqual(['The customer ends the subscription: Moved.', 'Moved.']);
  });

  it('is refused after another end, and repeats its answer after a cancellation', async () => {
    const { id, path } = await active();
    await move(api, 'vpn_subscription', id, 'expired');
    const refused = await caller.post(`${path}/cancel`, {});
    expect(refused.body).toMatchObject({ status: 409, code: 'action_not_possible', refusal: 'already_ended' });
    const other = await active();
    await move(api, 'vpn_subscription', other.id, 'cancelled');
    const again = await caller.post(`${other.path}/cancel`, {});
    expect([again.status, again.at('status')]).toEqual([200, 'cancelled']);
  });
});
