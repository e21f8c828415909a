import { describe, expect, it } from 'vitest';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { apiOfFile, auditOf } from '#test/integration/api/support.ts';
import { SHARED_CODE as CODE, sharedEsim } from '#test/support/api/share-links.ts';
import { idleService, startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { qrOfPng, qrOfSvg } from '#test/support/qr.ts';

const { api, caller } = await apiOfFile();

const ESIM = await sharedEsim(api, {
  serviceEsimId: '77301',
  status: 'installed',
  installedAt: new Date(TEST_NOW - 60_000),
  readAt: new Date(TEST_NOW - 12_300),
  createdAt: new Date(TEST_NOW - 12_300),
  updatedAt: new Date(TEST_NOW - 11_000),
});

describe('an eSIM', () => {
  const audited = () => auditOf(api, ESIM);

  it('is shown with its fields and their age, without activation code and audit entry', async () => {
    const answer = await caller.get(`/v1/esims/${ESIM}`);
    expect(answer.body).toEqual({
      id: ESIM,
      order_id: expect.stringMatching(/^ord_/),
      external_order_id: expect.any(String),
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
    for (const path of ['activation', 'qr.svg', 'qr.png'])
      expect((await reader.get(`/v1/esims/${ESIM}/${path}`)).read(problemSchema).missing_scope).toBe('esims:reveal');
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
    for (const [path, type, read] of [
      ['qr.svg', 'image/svg+xml; charset=utf-8', ({ text }: HttpAnswer) => qrOfSvg(text)],
      ['qr.png', 'image/png', ({ bytes }: HttpAnswer) => qrOfPng(bytes)],
    ] as const) {
      const picture = await caller.get(`/v1/esims/${ESIM}/${path}`);
      expect([picture.headers.get('content-type'), picture.headers.get('cache-control')]).toEqual([type, 'no-store']);
      expect(read(picture)).toEqual({ text: CODE, quietZone: 4 });
    }

    // HEAD reveals nothing.
    for (const path of ['activation', 'qr.svg', 'qr.png'])
      expect((await caller.call('HEAD', `/v1/esims/${ESIM}/${path}`, {})).status).toBe(200);
    const entries = await audited();
    const actions = entries.map(({ action }) => action);
    expect(actions).toEqual(['esim.activation_revealed', 'esim.qr_revealed', 'esim.qr_revealed']);
    expect(entries.every(({ actor, at }) => actor.startsWith('key_') && at.getTime() === TEST_NOW)).toBe(true);
    expect(api.log.join('')).not.toContain('A1B2');
  });

  it('reveals nothing when the audit log cannot be written', async () => {
    await using own = await startTestApi();
    const id = await sharedEsim(own);
    await own.database.run((db) => db.execute('alter table audit_log rename to audit_log_away'));
    const answer = await (await own.caller()).get(`/v1/esims/${id}/activation`);
    expect([answer.status, answer.read(problemSchema).code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain('smdp');
  });

  it.each<[string, { data_total_mb?: number | null }, object]>([
    ['a total', { data_total_mb: 3072 }, { data_total_mb: 3072, data_left_mb: 2559.5, unlimited: false }],
    ['no limit', { data_total_mb: null }, { data_total_mb: null, data_left_mb: null, unlimited: true }],
    ['neither', {}, { data_total_mb: null, data_left_mb: null, unlimited: null }],
  ])('shows its usage when the service returns %s', async (_what, total, shown) => {
    const value = { data_used_mb: 512.5, ...total };
    const getEsimUsage = async () => ({ ok: true, status: 200, value }) as const;
    await using own = await startTestApi({ service: { ...idleService, getEsimUsage } });
    const id = await sharedEsim(own);
    expect((await (await own.caller()).get(`/v1/esims/${id}/usage`)).body).toMatchObject({
      esim_id: id,
      data_used_mb: 512.5,
      measured_at: null,
      source: 'service',
      age_seconds: 0,
      ...shown,
    });
  });

  it('shows the last usage with its age while the service is unavailable, or none', async () => {
    const asked = { answers: false };
    const value = { data_used_mb: 100, data_total_mb: null, measured_at: '2030-01-31T11:59:00+00:00' };
    const getEsimUsage = async () =>
      asked.answers
        ? ({ ok: true, status: 200, value } as const)
        : ({ ok: false, kind: 'failure', failure: 'timeout', detail: 'No answer.' } as const);
    await using own = await startTestApi({ service: { ...idleService, getEsimUsage } });
    const [id, reader] = [await sharedEsim(own), await own.caller(['esims:read'])];
    expect((await reader.get(`/v1/esims/${id}/usage`)).read(problemSchema).code).toBe('service_timeout');
    asked.answers = true;
    const fresh = await reader.get(`/v1/esims/${id}/usage`);
    own.clock.now += 90_000;
    asked.answers = false;
    expect((await reader.get(`/v1/esims/${id}/usage`)).body).toEqual({
      ...(fresh.body as object),
      unlimited: true,
      measured_at: '2030-01-31T11:59:00.000Z',
      source: 'stored',
      read_at: new Date(TEST_NOW).toISOString(),
      age_seconds: 90,
    });
  });

  it('is simulated only in the sandbox, where the service has the call, and with the scope that changes eSIMs', async () => {
    const simulate = (by: HttpClient, state = 'active', id = ESIM) => by.post(`/v1/esims/${id}/simulate`, { state });
    const before = (await audited()).length;
    expect((await simulate(caller)).at('code')).toBe('service_does_not_offer');
    expect((await simulate(caller, 'expired')).status).toBe(400);
    expect((await simulate(await api.caller(['esims:read']))).at('missing_scope')).toBe('esims:write');
    // What the service was asked for, whatever it answered.
    expect(await audited()).toHaveLength(before + 1);
    await using live = await startTestApi({ serviceMode: 'production' });
    const refused = await simulate(await live.caller(), 'active', await sharedEsim(live));
    expect([refused.status, refused.at('code')]).toEqual([409, 'sandbox_only']);
  });
});
