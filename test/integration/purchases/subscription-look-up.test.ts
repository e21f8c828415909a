import { afterEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

async function bought(on: ActivityBench): Promise<AttemptRef> {
  const ids = await on.beginSubscription();
  await on.buy(ids);
  return ids;
}

describe('the look-up of a VPN subscription', () => {
  it('returns found', async () => {
    expect(await bench.activities.lookUpSubscription(await bought(bench))).toEqual({ kind: 'found' });
  });

  it.each([
    [{ kind: 'rate_limited', retry_after: 30 }, 'rate_limited', 30_000],
    [{ kind: 'connection_reset' }, 'connection_lost', undefined],
    // From a proxy or another server, not an answer of the service.
    [{ kind: 'answer', status: 404, body: '<h1>Not found</h1>' }, 'unreadable_answer', undefined],
    [{ kind: 'answer', status: 200, body: '{"id":"another","status":"active"}' }, 'contract_drift', undefined],
  ] as const)('proves nothing about the subscription when it failed (%o)', async (fault, failure, retryAfterMs) => {
    const ids = await bought(bench);
    await bench.admin.onRequest('getVpnSubscription', fault);
    const answer = await bench.activities.lookUpSubscription(ids);
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const said = expect.objectContaining({ class: failure, detail: expect.any(String) });
    expect(answer).toEqual({ kind: 'unavailable', failure: said, ...wait });
  });

  it('returns not known when the service clearly knows no such subscription', async () => {
    const ids = await bought(bench);
    const body = '{"error":{"code":"not_found","message":"Unknown."}}';
    await bench.admin.onRequest('getVpnSubscription', { kind: 'answer', status: 404, body });
    expect(await bench.activities.lookUpSubscription(ids)).toMatchObject({ kind: 'not_known' });
  });

  it('is not sent to a service without that call', async () => {
    await using without = await ActivityBench.start({ capabilities: { vpn_subscription_read: false } });
    const ids = await bought(without);
    const before = await without.admin.requests('getVpnSubscription');
    expect(await without.activities.lookUpSubscription(ids)).toMatchObject({ kind: 'not_known' });
    expect(await without.admin.requests('getVpnSubscription')).toEqual(before);
  });
});
