import { describe, expect, it } from 'vitest';
import { problemSchema } from '#api/problems/problem-schema.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { idleService, startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const { caller } = await apiOfFile();

const read = new Date(TEST_NOW).toISOString();

describe('packages and wallet', () => {
  it('are shown as the service returns them, with their age; packages by id and in pages', async () => {
    const first = await caller.get('/v1/packages?limit=2');
    expect(first.body).toMatchObject({ data: [{ id: 101 }, { id: 102 }], read_at: read, age_seconds: 0 });
    expect(first.at('data', 0)).toEqual({
      id: 101,
      name: 'Europe 5 GB',
      countries: ['DE', 'FR'],
      data_mb: 5_120,
      unlimited: false,
      validity_days: 30,
      price_for_reseller: { amount: '9.80', currency: 'EUR' },
      available: true,
      public_price: null,
      suggested_price: null,
      created_at: read,
      updated_at: read,
      removed_at: null,
    });
    const second = await caller.get(`/v1/packages?limit=2&cursor=${String(first.at('next_cursor'))}`);
    expect(second.body).toMatchObject({ data: [{ id: 103 }], next_cursor: null });
    const unlimited = { id: 103, data_mb: null, unlimited: true, available: false, age_seconds: 0 };
    expect((await caller.get('/v1/packages/103')).body).toMatchObject(unlimited);
    for (const id of ['104', '0103', '1e2', 'x'])
      expect((await caller.get(`/v1/packages/${id}`)).read(problemSchema).code).toBe('package_not_found');
    const wallet = { balance: { amount: '1250', currency: 'EUR' }, read_at: read, age_seconds: 0 };
    expect((await caller.get('/v1/wallet')).body).toEqual(wallet);
  });

  it('are read once for many callers, cached for a few seconds, then read again', async () => {
    let reads = 0;
    const getWallet = async () => {
      return { ok: true, status: 200, value: { balance: String((reads += 1)), currency: 'EUR' } } as const;
    };
    await using own = await startTestApi({ service: { ...idleService, getWallet } });
    const by = await own.caller();
    const answers = await Promise.all(Array.from({ length: 10 }, () => by.get('/v1/wallet')));
    expect(new Set(answers.map((answer) => answer.at('balance', 'amount')))).toEqual(new Set(['1']));
    own.clock.now += 2_999;
    expect((await by.get('/v1/wallet')).body).toMatchObject({ balance: { amount: '1' }, age_seconds: 2.999 });
    own.clock.now += 1;
    expect((await by.get('/v1/wallet')).body).toMatchObject({ balance: { amount: '2' }, age_seconds: 0 });
  });

  it('show the public price of a package when the service lists it, and null otherwise', async () => {
    const item = { name: 'Europe 5 GB', countries: [], available: true };
    const items = [
      { ...item, id: 101, price: '14.9', currency: 'EUR' },
      { ...item, id: 102, price: '4.99', currency: undefined },
    ];
    const listPublicPackages = async () => ({ ok: true, status: 200, value: { items, complete: true } }) as const;
    await using own = await startTestApi({ service: { ...idleService, listPublicPackages } });
    const by = await own.caller();
    expect((await by.get('/v1/packages')).body).toMatchObject({
      data: [
        { id: 101, public_price: { amount: '14.90', currency: 'EUR' } },
        { id: 102, public_price: null },
        { id: 103, public_price: null },
      ],
    });
  });

  it.each<[FailureClass, number, string, number | undefined, string]>([
    ['timeout', 504, 'service_timeout', undefined, '5'],
    ['rate_limited', 503, 'service_unavailable', 12_001, '13'],
    ['unauthorized', 503, 'service_unavailable', undefined, '5'],
    ['server_error', 502, 'service_failed', 0, '1'],
  ])('return the failure of the service: %s is %i', async (failure, status, code, retryAfterMs, retryAfter) => {
    const answered = { ok: false, kind: 'failure', failure, detail: 'In words.' } as const;
    const fail = async () => ({ ...answered, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    await using own = await startTestApi({ service: { ...idleService, listPackages: fail, getWallet: fail } });
    const by = await own.caller();
    for (const path of ['/v1/packages', '/v1/packages/101', '/v1/wallet']) {
      const answer = await by.get(path);
      expect(answer.status).toBe(status);
      expect(answer.read(problemSchema)).toMatchObject({ code, failure_class: failure, detail: 'In words.' });
      expect(answer.headers.get('retry-after')).toBe(retryAfter);
    }
  });
});
