import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { orderEvent, result, storedDeliveries } from '#test/support/api/service-deliveries.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());

const { rowsOf, metric } = storedDeliveries(() => api);
const disagreements = () => metric('reseller_webhook_deliveries_total{result="header_disagrees"}');

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

  it.each(['none', ' UTF8'])('is accepted with %j as the Content-Encoding', async (encoding) => {
    const answer = await api.deliver({ body: orderEvent(), headers: { 'Content-Encoding': encoding } });
    expect(result(answer)).toEqual([200, 'accepted']);
  });

  it.each(['order.failed', ''])('is judged by its signed body for event header %j', async (event) => {
    const id = randomUUID();
    const before = await disagreements();
    expect(result(await api.deliver({ id, body: orderEvent('completed'), event }))).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([
      { state: 'pending', event: 'order.completed', outcome: 'completed', headerEvent: event },
    ]);
    expect(await disagreements()).toBe(before + 1);
    expect(api.log.filter((line) => line.includes(id))).toEqual([expect.stringContaining('"level":"warn"')]);
  });

  it('counts no disagreement when its event header is equal or missing', async () => {
    const before = await disagreements();
    await api.deliver({ body: orderEvent('completed') });
    await api.deliver({ body: orderEvent('completed'), headers: { 'X-Service-Event': undefined } });
    expect(await disagreements()).toBe(before);
  });

  const vector = z.object({ signature: z.string(), body_hex: z.string().optional(), body_utf8: z.string().optional() });
  const vectors = z
    .object({ secret: z.string(), timestamp: z.string(), vectors: z.array(vector) })
    .parse(JSON.parse(readFileSync(new URL('../../../vectors/webhook-vectors.json', import.meta.url), 'utf8')));

  it('is verified', async () => {
    await using own = await startTestApi({ webhookSecrets: [{ secret: vectors.secret }] });
    own.clock.now = Number(vectors.timestamp) * 1_000;
    for (const { signature, body_hex: hex, body_utf8: text = '' } of vectors.vectors) {
      const body = hex === undefined ? Buffer.from(text) : Buffer.from(hex, 'hex');
      const headers = { 'X-Service-Signature': signature, 'X-Service-Timestamp': vectors.timestamp };
      expect(result(await own.deliver({ body, headers }))).toEqual([200, 'quarantined']);
      const altered = signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      const forged = { ...headers, 'X-Service-Signature': altered };
      expect((await own.deliver({ body, headers: forged })).status).toBe(401);
    }
  });
});
