import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import { auditLog, esims, orders } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { idleService, startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { qrOfPng, qrOfSvg } from '#test/support/qr.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const ESIM = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';
const CODE = 'LPA:1$smdp.example.com$A1B2-C3D4-E5F6';

describe('an eSIM', () => {
  beforeAll(async () => {
    const order = {
      id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD',
      apiKeyId: 'key_test',
      externalOrderId: 'shop-2030-000123',
      packageId: 101,
    };
    await api.database.run((db) => db.insert(orders).values(order));
    await api.database.run((db) =>
      db.insert(esims).values({
        id: ESIM,
        orderId: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD',
        serviceEsimId: '77301',
        iccid: '8944500102198304826',
        packageId: 101,
        encryptedActivationCode: api.keyRing.encrypt(CODE, activationCodeAad(ESIM)),
        status: 'installed',
        installedAt: new Date(TEST_NOW - 60_000),
        readAt: new Date(TEST_NOW - 12_300),
        createdAt: new Date(TEST_NOW - 12_300),
        updatedAt: new Date(TEST_NOW - 11_000),
      }),
    );
  });
  const audited = () => api.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, ESIM)));

  it('is shown with its fields and their age, without activation code and audit entry', async () => {
    const answer = await caller.get(`/v1/esims/${ESIM}`);
    expect(answer.body).toEqual({
      id: ESIM,
      order_id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD',
      external_order_id: 'shop-2030-000123',
      customer_reference: null,
      service_esim_id: '77301',
      iccid: '8944500102198304826',
      package_id: 101,
      status: 'installed',
      installed_at: new Date(TEST_NOW - 60_000).toISOString(),
      activated_at: null,
      expires_at: null,
      read_at: new Date(TEST_NOW - 12_300).toISOString(),
      facts_age_seconds: 12.3,
      created_at: new Date(TEST_NOW - 12_300).toISOString(),
      updated_at: new Date(TEST_NOW - 11_000).toISOString(),
    });
    expect(answer.text).not.toContain('A1B2');
    expect(await audited()).toEqual([]);
  });

  it('returns its activation code only with that scope, uncached, and audits the reader', async () => {
    const reader = await api.caller(['esims:read']);
    for (const path of ['activation', 'qr.svg', 'qr.png']) {
      expect((await reader.get(`/v1/esims/${ESIM}/${path}`)).read(problemSchema).missing_scope).toBe('esims:reveal');
    }
    expect(await audited()).toEqual([]);

    const answer = await caller.get(`/v1/esims/${ESIM}/activation`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      esim_id: ESIM,
      iccid: '8944500102198304826',
      activation_code: CODE,
      smdp_address: 'smdp.example.com',
      matching_id: 'A1B2-C3D4-E5F6',
      confirmation_code_required: false,
      install_links: {
        ios: 'https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA%3A1%24smdp.example.com%24A1B2-C3D4-E5F6',
        android:
          'https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA%3A1%24smdp.example.com%24A1B2-C3D4-E5F6',
      },
    });
    const svg = await caller.get(`/v1/esims/${ESIM}/qr.svg`);
    expect([svg.headers.get('content-type'), svg.headers.get('cache-control')]).toEqual([
      'image/svg+xml; charset=utf-8',
      'no-store',
    ]);
    expect(qrOfSvg(svg.text)).toEqual({ text: CODE, quietZone: 4 });
    const png = await caller.get(`/v1/esims/${ESIM}/qr.png`);
    expect([png.headers.get('content-type'), png.headers.get('cache-control')]).toEqual(['image/png', 'no-store']);
    expect(qrOfPng(png.bytes)).toEqual({ text: CODE, quietZone: 4 });

    // HEAD reveals nothing.
    for (const path of ['activation', 'qr.svg', 'qr.png'])
      expect((await caller.call('HEAD', `/v1/esims/${ESIM}/${path}`, {})).status).toBe(200);
    const entries = await audited();
    expect(entries.map(({ action }) => action)).toEqual([
      'esim.activation_revealed',
      'esim.qr_revealed',
      'esim.qr_revealed',
    ]);
    expect(entries.every(({ actor, at }) => actor.startsWith('key_') && at.getTime() === TEST_NOW)).toBe(true);
    expect(api.log.join('')).not.toContain('A1B2');
  });

  it('reveals nothing when the audit log cannot be written', async () => {
    await using own = await startTestApi();
    await own.database.run((db) => db.execute('alter table audit_log rename to audit_log_away'));
    await own.database.run((db) =>
      db.insert(esims).values({
        id: ESIM,
        orderId: 'ord_1',
        serviceEsimId: '1',
        iccid: '8944500102198304826',
        packageId: 1,
        encryptedActivationCode: own.keyRing.encrypt(CODE, activationCodeAad(ESIM)),
        status: 'new',
        readAt: new Date(TEST_NOW),
      }),
    );
    const answer = await (await own.caller()).get(`/v1/esims/${ESIM}/activation`);
    expect([answer.status, answer.read(problemSchema).code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain('smdp');
  });

  it.each([
    [
      'a total',
      { data_used_mb: 512.5, data_total_mb: 3072 },
      { data_total_mb: 3072, data_left_mb: 2559.5, unlimited: false },
    ],
    [
      'no limit',
      { data_used_mb: 512.5, data_total_mb: null },
      { data_total_mb: null, data_left_mb: null, unlimited: true },
    ],
    ['neither', { data_used_mb: 512.5 }, { data_total_mb: null, data_left_mb: null, unlimited: null }],
  ])('shows its usage when the service returns %s', async (_what, value, shown) => {
    await using own = await startTestApi({
      service: { ...idleService, getEsimUsage: async () => ({ ok: true, status: 200, value }) },
    });
    await own.database.run(async (db) =>
      db.insert(esims).values(await api.database.run((from) => from.select().from(esims).where(eq(esims.id, ESIM)))),
    );
    const answer = await (await own.caller()).get(`/v1/esims/${ESIM}/usage`);
    expect(answer.body).toMatchObject({
      esim_id: ESIM,
      data_used_mb: 512.5,
      measured_at: null,
      source: 'service',
      age_seconds: 0,
      ...shown,
    });
  });

  it('shows the last usage with its age while the service is unavailable, or none', async () => {
    const asked = { answers: true };
    await using own = await startTestApi({
      service: {
        ...idleService,
        getEsimUsage: async () =>
          asked.answers
            ? {
                ok: true,
                status: 200,
                value: { data_used_mb: 100, data_total_mb: null, measured_at: '2030-01-31T11:59:00+00:00' },
              }
            : { ok: false, kind: 'failure', failure: 'timeout', detail: 'No answer.' },
      },
    });
    await own.database.run(async (db) =>
      db.insert(esims).values(await api.database.run((from) => from.select().from(esims).where(eq(esims.id, ESIM)))),
    );
    const reader = await own.caller(['esims:read']);
    asked.answers = false;
    expect((await reader.get(`/v1/esims/${ESIM}/usage`)).read(problemSchema).code).toBe('service_timeout');
    asked.answers = true;
    const fresh = await reader.get(`/v1/esims/${ESIM}/usage`);
    own.clock.now += 90_000;
    asked.answers = false;
    expect((await reader.get(`/v1/esims/${ESIM}/usage`)).body).toEqual({
      ...(fresh.body as object),
      unlimited: true,
      measured_at: '2030-01-31T11:59:00.000Z',
      source: 'stored',
      read_at: new Date(TEST_NOW).toISOString(),
      age_seconds: 90,
    });
  });

  it('is simulated only in the sandbox, where the service has the call, and with the scope that changes eSIMs', async () => {
    const simulate = (by: HttpClient, state = 'active') => by.post(`/v1/esims/${ESIM}/simulate`, { state });
    const before = (await audited()).length;
    expect((await simulate(caller)).read(problemSchema).code).toBe('service_does_not_offer');
    expect((await simulate(caller, 'expired')).status).toBe(400);
    expect((await simulate(await api.caller(['esims:read']))).read(problemSchema).missing_scope).toBe('esims:write');
    // What the service was asked for, whatever it answered.
    expect(await audited()).toHaveLength(before + 1);
    await using live = await startTestApi({ serviceMode: 'production' });
    await live.database.run(async (db) =>
      db.insert(esims).values(await api.database.run((from) => from.select().from(esims).where(eq(esims.id, ESIM)))),
    );
    expect((await simulate(await live.caller())).read(problemSchema)).toMatchObject({
      status: 409,
      code: 'sandbox_only',
    });
  });
});
