import { afterEach, describe, expect, it, vi } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { refused } from '#test/support/service-session.ts';
import { createServiceClient, type ServiceClient } from '#upstream/client.ts';
import type { Caller } from '#upstream/client/call.ts';
import type { ClientSession } from '#upstream/client/calls.ts';
import type { SharedToken } from '#upstream/client/session.ts';

const PURCHASE = { idempotencyKey: 'key-1', body: Buffer.from('{}'), reference: 'shop-1', packageId: 7 };
const REFUSED = refused('unauthorized', { status: 401 });

/** A client with these durations of session and calls, on a controlled clock. */
function slowClient(takes: { token: number; renewal: number; call: number }, answer: (call: number) => unknown) {
  let now = 5_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const waits: { what: string; at: number; deadlineMs: number }[] = [];
  const passes = async (what: string, ms: number, deadlineMs: number) => {
    waits.push({ what, at: now - 5_000, deadlineMs });
    now += ms;
    return await Promise.resolve();
  };
  const token = (version: number): SharedToken => ({
    accessToken: `t${version}`,
    version,
    expiresAt: undefined,
    renewedAt: 0,
  });
  const session: ClientSession = {
    token: async (deadlineMs) => {
      await passes('token', takes.token, deadlineMs);
      return { ok: true, token: token(1) };
    },
    renewAfter401: async (version, deadlineMs) => {
      await passes('renewal', takes.renewal, deadlineMs);
      return { ok: true, token: token(version + 1) };
    },
    refusedAfterRenewal: () => undefined,
  };
  let calls = 0;
  const call = (async (endpoint: string, { deadlineMs }: { deadlineMs: number }) => {
    await passes(endpoint, takes.call, deadlineMs);
    return answer((calls += 1));
  }) as Caller;
  const settings = { mode: 'sandbox', capabilities: ALL_CAPABILITIES, deadlineMs: 20_000 } as const;
  const client = createServiceClient(call, session, settings);
  /** A lease with this many milliseconds left before the first call. */
  const lease = (ms: number) => () => ms - (now - 5_000);
  return { client, waits, lease };
}

afterEach(() => vi.restoreAllMocks());

/** A send that is refused with 401, and the second one. */
const STEPS = ['token', 'createOrder', 'renewal', 'createOrder'];

describe('the deadline of a purchase', () => {
  it('covers the login, the send, and after a 401 the second login and send', async () => {
    const bought = { ok: true, value: {}, status: 201 };
    const takes = { token: 3_000, renewal: 4_000, call: 5_000 };
    const { client, waits } = slowClient(takes, (call) => (call === 1 ? REFUSED : bought));
    expect(await client.createOrder(PURCHASE)).toMatchObject({ ok: true });
    expect(waits).toEqual([
      { what: 'token', at: 0, deadlineMs: 20_000 },
      { what: 'createOrder', at: 3_000, deadlineMs: 17_000 },
      { what: 'renewal', at: 8_000, deadlineMs: 12_000 },
      { what: 'createOrder', at: 12_000, deadlineMs: 8_000 },
    ]);
  });

  it.each([
    ['a send when the login has used most of it', { token: 15_001, renewal: 0, call: 0 }, 1],
    ['a second send after a refused send and a new login', { token: 0, renewal: 8_000, call: 8_000 }, 3],
  ])('prevents %s, because the outcome could become unknown', async (_what, takes, steps) => {
    const { client, waits } = slowClient(takes, () => REFUSED);
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure: 'not_sent' });
    expect(waits.map(({ what }) => what)).toEqual(STEPS.slice(0, steps));
  });
});

describe('the lease of a send', () => {
  it('is checked again before the second send after a 401', async () => {
    const stalled = { ms: 0 };
    const { client, waits, lease } = slowClient({ token: 0, renewal: 1_000, call: 1_000 }, () => {
      stalled.ms = 10_000;
      return REFUSED;
    });
    const leaseLeftMs = () => lease(30_000)() - stalled.ms;
    expect(await client.createOrder({ ...PURCHASE, leaseLeftMs })).toMatchObject({ failure: 'not_sent' });
    expect(waits.map(({ what }) => what)).toEqual(STEPS.slice(0, 3));
  });

  it('allows both sends while it lasts, and all calls without a lease', async () => {
    for (const more of [{ leaseLeftMs: () => 20_001 }, {}]) {
      const { client, waits } = slowClient({ token: 0, renewal: 1_000, call: 1_000 }, () => REFUSED);
      await client.createOrder({ ...PURCHASE, ...more });
      expect(waits.map(({ what }) => what)).toEqual(STEPS);
    }
  });

  type Send = (client: ServiceClient, leaseLeftMs: () => number) => Promise<unknown>;
  it.each<[string, Send]>([
    ['an order', (client, leaseLeftMs) => client.createOrder({ ...PURCHASE, leaseLeftMs })],
    ['a top-up', (client, leaseLeftMs) => client.createTopup({ ...PURCHASE, esimId: 'e-1', leaseLeftMs })],
    ['a VPN subscription', (client, leaseLeftMs) => client.createVpnOrder({ ...PURCHASE, vpnPlanId: 3, leaseLeftMs })],
    ['a cancellation', (client, leaseLeftMs) => client.cancelEsim({ ...PURCHASE, esimId: 'e-1', leaseLeftMs })],
  ])('must outlast the deadline of the request, or nothing is sent: %s', async (_what, send) => {
    const { client, waits } = slowClient({ token: 0, renewal: 0, call: 0 }, () => REFUSED);
    expect(await send(client, () => 20_000)).toMatchObject({ failure: 'not_sent' });
    expect(waits.map(({ what }) => what)).toEqual(['token']);
  });
});

it('a list fails when the total time of its pages exceeds the deadline', async () => {
  let cursor = 0;
  const { client, waits } = slowClient({ token: 0, renewal: 0, call: 7_000 }, () => ({
    ok: true,
    status: 200,
    value: {
      items: [],
      dropped: 0,
      layers: [{ next_cursor: String((cursor += 1)) }],
      linkHeader: undefined,
      prices: { whole: 0, decimal: 0 },
      uncertain: 0,
    },
  }));
  expect(await client.listPackages()).toMatchObject({ failure: 'timeout' });
  const deadlines = waits.filter(({ what }) => what === 'listPackages').map(({ deadlineMs }) => deadlineMs);
  expect(deadlines).toEqual([20_000, 13_000, 6_000]);
});
