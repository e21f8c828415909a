import { describe, expect, it } from 'vitest';
import { jsonAnswer as json, refusal, startTestClient } from '#test/support/upstream-client.ts';

const SECRET = 'whsec_0123456789abcdef';

describe('the public package listing', () => {
  it('is read without a token, and without reseller prices', async () => {
    const listed = { id: 7, name: 'Europe', price_for_reseller: '4.50', price: '6.99', currency: 'EUR' };
    await using opened = await startTestClient(() => json({ data: [listed] }));
    const result = await opened.client.listPublicPackages();
    expect(result.ok && result.value.items).toEqual([
      { id: 7, name: 'Europe', countries: [], available: true, price: '6.99', currency: 'EUR' },
    ]);
    expect(opened.targets()).toEqual(['/sandbox/public/packages?limit=100']);
  });

  it('is read with a token on every page if the service requires one, and is refused once only', async () => {
    let refused = 0;
    await using opened = await startTestClient(({ target, token }) => {
      if (token === undefined) refused += 1;
      if (token === undefined) return refusal(401, 'unauthenticated');
      const isSecond = target.includes('cursor');
      return json({ data: [{ id: isSecond ? 8 : 7, name: 'Europe' }], next_cursor: isSecond ? null : 'c2' });
    });
    const items = [{ id: 7 }, { id: 8 }];
    expect(await opened.client.listPublicPackages()).toMatchObject({ value: { items, complete: true } });
    expect(opened.targets().filter((target) => target === '/sandbox/login')).toHaveLength(1);
    expect(await opened.client.listPublicPackages()).toMatchObject({ ok: true });
    expect(refused).toBe(1);
  });
});

describe('a package without a price', () => {
  it.each([undefined, null, '', 'free'])('(%j) is never listed as free of charge', async (price) => {
    const unpriced = { id: 7, name: 'P', price_for_reseller: price, currency: 'EUR' };
    await using opened = await startTestClient(() => json({ data: [unpriced] }));
    for (const result of [await opened.client.listPackages(), await opened.client.listTopupOptions('e_1')])
      expect(result.ok ? result.value.items : []).toEqual([]);
  });
});

describe('the wallet', () => {
  it('is read with its exact balance', async () => {
    await using opened = await startTestClient(() => json({ balance: '1234567890123.45', currency: 'EUR' }));
    expect(await opened.client.getWallet()).toMatchObject({ value: { balance: '1234567890123.45', currency: 'EUR' } });
  });
});

describe('the update check', () => {
  const others = ['', 'v1.2', '1.2-beta', '1..2', '.1', '1.', '1.2 ', '1,2', '１.２', '1.2\n'];
  it.each(others)('is refused before any request for a version that is not dotted numbers: %j', async (version) => {
    await using opened = await startTestClient(() => json({ latest_version: '2.0', update_available: true }));
    const result = await opened.client.getLatestUpdate({ currentVersion: version, channel: 'stable' });
    expect(result).toMatchObject({ failure: 'invalid_request', detail: expect.stringContaining('current_version') });
    expect(opened.server.connections()).toBe(0);
  });
});

describe('the OpenAPI description', () => {
  const DOCUMENT = { openapi: '3.0.3', info: { title: 'Reseller', version: '1' }, paths: { '/orders': { post: {} } } };

  it('is downloaded unchanged, without a token', async () => {
    await using opened = await startTestClient(() => json(DOCUMENT));
    expect(await opened.client.getOpenApi()).toMatchObject({ ok: true, value: DOCUMENT });
    expect(opened.targets()).toEqual(['/sandbox/openapi.json']);
  });

  it('must be an OpenAPI document, and any other page is contract drift', async () => {
    await using opened = await startTestClient(() => json({ title: 'Welcome' }));
    expect(await opened.client.getOpenApi()).toMatchObject({ failure: 'contract_drift' });
  });
});

describe('the webhook secret', () => {
  it('is only in answers to create and rotate', async () => {
    await using opened = await startTestClient(() => json({ secret: SECRET }, 201));
    expect(await opened.client.createWebhookSecret()).toMatchObject({ ok: true, value: { secret: SECRET } });
    expect(await opened.client.rotateWebhookSecret()).toMatchObject({ ok: true, value: { secret: SECRET } });
    expect(opened.targets().slice(1)).toEqual(['/sandbox/webhook-secret', '/sandbox/webhook-secret/rotate']);
    expect(JSON.stringify(opened.events)).not.toContain(SECRET);
  });

  const unusable = [{}, { secret: '' }, { secret: 'short' }, { secret: `${SECRET}\n` }, { secret: null }];
  it.each(unusable)(
    'without a usable value is contract drift, and is not repeated in the detail: %j',
    async (answer) => {
      await using opened = await startTestClient(() => json(answer));
      const result = await opened.client.rotateWebhookSecret();
      expect(result).toMatchObject({ failure: 'contract_drift' });
      expect(JSON.stringify(result)).not.toContain(SECRET);
    },
  );
});
