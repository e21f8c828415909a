import { describe, expect, it } from 'vitest';
import { checkApproval, checkClock, checkLogin, checkToken } from '#cli/doctor/checks/account.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { config, failed } from '#test/support/doctor-service.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { TRANSACTION } from '#test/support/service-records.ts';
import { jsonAnswer, refusal, startTestClient } from '#test/support/upstream-client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

describe('the clock', () => {
  const DATE = Date.UTC(2026, 5, 1, 12, 0, 0);

  async function clockAt(now: number) {
    const headers = { date: new Date(DATE).toUTCString() };
    await using server = await startRawServer({
      onRequest: ({ socket }) => socket.write(httpAnswer(401, '{}', headers)),
    });
    const at = config({ baseUrl: `${server.origin}${BASE_PATH}` });
    return await checkClock(at, { now: () => now, deadlineMs: 5_000, webhookToleranceMs: undefined });
  }

  it.each([
    [0, 'ok', "agrees with the service's"],
    // The header has no fraction of its second.
    [999, 'ok', "agrees with the service's"],
    [30_999, 'ok', "ours is 30 s ahead of the service's"],
    [31_999, 'warning', "ours is 31 s ahead of the service's"],
    [-31_000, 'warning', "ours is 31 s behind the service's"],
    [300_999, 'warning', "ours is 300 s ahead of the service's"],
    [301_999, 'failure', "ours is 301 s ahead of the service's"],
    [-301_000, 'failure', "ours is 301 s behind the service's"],
  ])('that is off by %i ms: %s', async (offset, status, detail) => {
    expect(await clockAt(DATE + offset)).toMatchObject({ status, detail: expect.stringContaining(detail) });
  });
});

describe('the login', () => {
  it.each([
    ['unauthorized', /SERVICE_PASSWORD/],
    ['not_approved', /Ask the service for approval/],
    ['not_sent', /SERVICE_BASE_URL/],
  ] as const)('that fails as %s has an advice', (failure, advice) => {
    const refused = checkLogin(failed(failure), config());
    expect(refused).toMatchObject({ status: 'failure', advice: expect.stringMatching(advice) });
  });
});

describe('the token lifetime', () => {
  const token = (lifetimeMs: number | undefined) => ({
    accessToken: 't',
    version: 1,
    renewedAt: 5_000,
    expiresAt: lifetimeMs === undefined ? undefined : 5_000 + lifetimeMs,
  });
  const DAY = 86_400_000;

  it.each([
    ['no end', undefined, undefined, 'ok'],
    ['a day', DAY, undefined, 'ok'],
    ['almost the requested lifetime', 29.9 * DAY, 30, 'ok'],
    ['less than the requested lifetime', 7 * DAY, 30, 'warning'],
    ['a few minutes', 599_000, undefined, 'warning'],
  ])('of %s', (_, lifetimeMs, tokenDays, status) => {
    expect(checkToken(token(lifetimeMs), config({ tokenDays })).status).toBe(status);
  });
});

describe('production approval', () => {
  const movements = (...types: ('debit' | 'credit')[]) =>
    jsonAnswer({ data: types.map((type) => ({ ...TRANSACTION, type, reason: 'x' })) });
  const refused = { ...failed('not_approved'), code: 'not_approved' } as const;
  const threeHeld = /3 purchases are held/;
  const forbidden = /^The service answered 403.*, without the code not_approved → .*ask what it forbids/;

  it.each<[string, Buffer, { refused?: ServiceFailure; held?: number }, string, RegExp, calls: number]>([
    ['a purchase in the wallet proves it', movements('credit', 'debit'), {}, 'ok', /./, 1],
    ['successful reads before the first purchase prove nothing', movements('credit'), {}, 'warning', /^unknown/, 1],
    ['a read is refused for it', refusal(403, 'not_approved'), {}, 'failure', /has not approved/, 1],
    ['the last answer to an order says so', movements(), { refused }, 'failure', /has not approved/, 0],
    ['another 403 may come from a firewall', refusal(403, 'blocked'), {}, 'failure', forbidden, 1],
    ['a page with 403 is from a firewall', httpAnswer(403, '<h1>Forbidden</h1>'), {}, 'failure', forbidden, 1],
    ['purchases are held, also after earlier ones', movements('debit'), { held: 3 }, 'failure', threeHeld, 0],
  ])('%s', async (_what, answer, known, status, detail, calls) => {
    await using service = await startTestClient(() => answer, { mode: 'production' });
    const finding = await checkApproval(service.client, config({ mode: 'production' }), { held: 0, ...known });
    expect(finding.status).toBe(status);
    expect(`${finding.detail} → ${finding.advice}`).toMatch(detail);
    // The login comes before the read.
    expect(service.server.requests).toHaveLength(2 * calls);
  });

  it('is not needed in the sandbox', async () => {
    await using service = await startTestClient(() => jsonAnswer({ data: [] }));
    const finding = await checkApproval(service.client, config(), { held: 0 });
    expect(finding).toEqual({ status: 'ok', detail: 'not needed in the sandbox' });
  });
});
