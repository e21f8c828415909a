import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { NOW_SECONDS, orderEvent, result, storedDeliveries } from '#test/support/api/service-deliveries.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = await startTestApi();

afterAll(() => api[Symbol.asyncDispose]());

const { rowsOf, metric } = storedDeliveries(() => api);

describe('a signed delivery', () => {
  it('is stored encrypted before its 200', async () => {
    const id = randomUUID();
    const body = orderEvent('completed');
    const wakeUps = api.wakeUps();
    expect(result(await api.deliver({ id, body }))).toEqual([200, 'accepted']);
    const [row] = await rowsOf(id);
    expect(row).toMatchObject({
      source: 'webhook',
      state: 'pending',
      event: 'order.completed',
      headerEvent: 'order.completed',
      outcome: 'completed',
      reference: body.data.external_order_id,
      serviceId: body.data.id,
    });
    expect(api.keyRing.decryptText(row!.encryptedBody, inboxBodyAad(id))).toBe(JSON.stringify(body));
    expect(row!.encryptedBody.includes(Buffer.from(body.data.external_order_id))).toBe(false);
    expect(api.wakeUps()).toBe(wakeUps + 1);
  });

  it('of a ping is acknowledged and ignored', async () => {
    const id = randomUUID();
    const wakeUps = api.wakeUps();
    expect(result(await api.deliver({ id, body: { event: 'ping' } }))).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'ignored', event: 'ping' }]);
    expect(api.wakeUps()).toBe(wakeUps);
  });

  it.each(['utf-8', 'none', ' UTF8', 'identity'])('is accepted with %j as the Content-Encoding', async (encoding) => {
    const answer = await api.deliver({ body: orderEvent(), headers: { 'Content-Encoding': encoding } });
    expect(result(answer)).toEqual([200, 'accepted']);
  });

  it('that is compressed is refused, and counted', async () => {
    const counted = () => metric('reseller_webhook_deliveries_total{result="body_encoded"}');
    const before = await counted();
    const answer = await api.deliver({ body: orderEvent(), headers: { 'Content-Encoding': 'gzip' } });
    expect([answer.status, await counted()]).toEqual([415, before + 1]);
  });

  it('is accepted without an event header, because the signed body contains the event', async () => {
    const answer = await api.deliver({ body: orderEvent(), headers: { 'X-Service-Event': undefined } });
    expect(result(answer)).toEqual([200, 'accepted']);
  });

  it.each(['order.failed', 'order.exploded', 'ping', ''])(
    'is judged by its signed body for event header %j',
    async (event) => {
      const id = randomUUID();
      const before = await metric('reseller_webhook_deliveries_total{result="header_disagrees"}');
      expect(result(await api.deliver({ id, body: orderEvent('completed'), event }))).toEqual([200, 'accepted']);
      expect(await rowsOf(id)).toMatchObject([
        { state: 'pending', event: 'order.completed', outcome: 'completed', headerEvent: event },
      ]);
      expect(await metric('reseller_webhook_deliveries_total{result="header_disagrees"}')).toBe(before + 1);
      expect(api.log.filter((line) => line.includes(id))).toEqual([expect.stringContaining('"level":"warn"')]);
    },
  );

  it('is a ping by its body, for any event header', async () => {
    const id = randomUUID();
    const answer = await api.deliver({ id, body: { event: 'ping', data: { id } }, event: 'order.completed' });
    expect(result(answer)).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'ignored', event: 'ping', outcome: null }]);
  });

  it('counts no disagreement when its event header is equal or missing', async () => {
    const before = await metric('reseller_webhook_deliveries_total{result="header_disagrees"}');
    await api.deliver({ body: orderEvent('completed') });
    await api.deliver({ body: orderEvent('completed'), headers: { 'X-Service-Event': undefined } });
    expect(await metric('reseller_webhook_deliveries_total{result="header_disagrees"}')).toBe(before);
  });

  const vectors = z
    .object({ secret: z.string(), timestamp: z.string(), vectors: z.array(z.record(z.string(), z.string())) })
    .parse(JSON.parse(readFileSync(new URL('../../../vectors/webhook-vectors.json', import.meta.url), 'utf8')));

  it('is verified', async () => {
    await using own = await startTestApi({ webhookSecrets: [{ secret: vectors.secret }] });
    own.clock.now = Number(vectors.timestamp) * 1_000;
    for (const vector of vectors.vectors) {
      const body =
        vector['body_hex'] === undefined
          ? Buffer.from(vector['body_utf8'] ?? '')
          : Buffer.from(vector['body_hex'], 'hex');
      const headers = { 'X-Service-Signature': vector['signature'], 'X-Service-Timestamp': vectors.timestamp };
      expect(result(await own.deliver({ body, headers }))).toEqual([200, 'quarantined']);
      const forged = {
        ...headers,
        'X-Service-Signature': vector['signature']?.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      };
      expect((await own.deliver({ body, headers: forged })).status).toBe(401);
    }
  });

  it.each([-300, 300])('is accepted with a time difference of %i seconds', async (difference) => {
    const answer = await api.deliver({ body: orderEvent(), timestamp: String(NOW_SECONDS + difference) });
    expect(result(answer)).toEqual([200, 'accepted']);
  });

  it('is accepted with the old secret until the rotation ends, and not afterwards', async () => {
    const secrets = [{ secret: 'the new secret' }, { secret: 'the old secret', acceptedUntil: TEST_NOW }];
    await using own = await startTestApi({ webhookSecrets: secrets });
    for (const secret of ['the new secret', 'the old secret']) {
      expect((await own.deliver({ body: orderEvent(), secret })).status).toBe(200);
    }
    own.clock.now += 1;
    expect((await own.deliver({ body: orderEvent(), secret: 'the old secret' })).status).toBe(401);
    expect((await own.deliver({ body: orderEvent(), secret: 'the new secret' })).status).toBe(200);
  });
});
