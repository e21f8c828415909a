import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { problemOf } from '#test/support/api/order-calls.ts';
import { NOW_SECONDS, orderEvent, result, storedDeliveries } from '#test/support/api/service-deliveries.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, WEBHOOK_SECRET, type Delivery } from '#test/support/network/api.ts';
import { rawRequest, sendRaw } from '#test/support/network/raw-http.ts';
import { openDatabase } from '#test/support/servers/database.ts';

const api = disposedAtEnd(await startTestApi());

const { rowsOf, countRows } = storedDeliveries(() => api);

async function verdictOn(delivery: Partial<Delivery>) {
  const before = await countRows();
  const answer = await api.deliver({ body: orderEvent(), ...delivery });
  return { status: answer.status, code: problemOf(answer).code, stored: (await countRows()) - before };
}

describe('an unauthentic delivery gets 401 and stores nothing', () => {
  const refusal = { status: 401, code: 'invalid_signature', stored: 0 };
  const n = String(NOW_SECONDS);

  it.each([
    ['301 seconds old', String(NOW_SECONDS - 301)],
    ['in other digits', '١٧٠٠٠٠٠٠٠٠'],
  ])('time %s', async (_name, timestamp) => {
    // Header values are bytes. Characters outside of ASCII are sent as UTF-8.
    const wire = Buffer.from(timestamp, 'utf8').toString('latin1');
    expect(await verdictOn({ timestamp, headers: { 'X-Service-Timestamp': wire } })).toEqual(refusal);
  });

  it('another secret', async () => {
    expect(await verdictOn({ secret: 'not the secret' })).toEqual(refusal);
  });

  it('signature header sent twice', async () => {
    const before = await countRows();
    const body = JSON.stringify(orderEvent());
    const signature = `v1=${createHmac('sha256', WEBHOOK_SECRET).update(`${n}.${body}`).digest('hex')}`;
    const headers = [
      'Connection: close',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Service-Timestamp: ${n}`,
      `X-Service-Delivery: ${randomUUID()}`,
      ...Array<string>(2).fill(`X-Service-Signature: ${signature}`),
    ];
    const sent = await sendRaw(api.baseUrl, [rawRequest('POST /webhooks/service', headers, body)]);
    expect(sent.statuses).toEqual([401]);
    expect(await countRows()).toBe(before);
  });

  it('no body and no headers at all', async () => {
    const headers = { 'X-Service-Timestamp': undefined, 'X-Service-Signature': undefined };
    expect(await verdictOn({ body: '', headers })).toEqual(refusal);
  });
});

describe('an unusable signed delivery', () => {
  it.each<[string, string | undefined]>([
    ['none', undefined],
    ['empty', ''],
    ['one with a blank', 'a b'],
    ['one of 256 characters', 'x'.repeat(256)],
    ['one of our own reads', 'read:att_1:completed'],
  ])('gets 400 with delivery id: %s', async (_name, id) => {
    const verdict = await verdictOn({ headers: { 'X-Service-Delivery': id } });
    expect(verdict).toEqual({ status: 400, code: 'delivery_id_missing', stored: 0 });
  });

  it.each<[string, Delivery]>([
    ['is empty', { body: '' }],
    ['is not UTF-8', { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['names an unknown kind', { body: { event: 'order.exploded' } }],
    ['contradicts itself', { body: orderEvent('completed', { status: 'failed' }) }],
    ['holds NUL in the id of the order', { body: orderEvent('completed', { id: 'a\0b' }) }],
    ['is deeply nested', { body: `${'['.repeat(25_000)}${']'.repeat(25_000)}` }],
    ['is one long text of escapes', { body: JSON.stringify('\n'.repeat(30_000)) }],
  ])('is quarantined with 200 when its body %s', async (_name, delivery) => {
    const id = randomUUID();
    const wakeUps = api.wakeUps();
    expect(result(await api.deliver({ id, ...delivery }))).toEqual([200, 'quarantined']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'quarantined', note: expect.stringMatching(/\.$/) as string }]);
    expect(api.wakeUps()).toBe(wakeUps);
    // A retry is an ordinary duplicate.
    expect(result(await api.deliver({ id, ...delivery }))).toEqual([200, 'duplicate']);
  });

  it('is accepted without an optional field, such as an eSIM id with NUL', async () => {
    const id = randomUUID();
    const body = orderEvent('completed', { esim_id: 'a\0b' });
    expect(result(await api.deliver({ id, body }))).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'pending', serviceEsimId: null }]);
  });

  it('is stored without its unusable reference', async () => {
    const id = randomUUID();
    const body = orderEvent('completed', { external_order_id: `${'x'.repeat(3_000)}\0` });
    expect(result(await api.deliver({ id, body }))).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'pending', reference: null, serviceId: body.data.id }]);
  });

  it.each([
    [413, 'payload_too_large', { body: orderEvent('completed', { note: 'x'.repeat(70_000) }) }],
    [415, 'unsupported_encoding', { body: orderEvent(), headers: { 'Content-Encoding': 'gzip' } }],
  ])('gets %i %s when it is too large or compressed, and nothing is stored', async (status, code, delivery) => {
    expect(await verdictOn(delivery)).toEqual({ status, code, stored: 0 });
  });

  it('is accepted with any content type', async () => {
    const delivery = { body: orderEvent(), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
    expect(result(await api.deliver(delivery))).toEqual([200, 'accepted']);
  });

  it('gets 503 while the database is unavailable', async () => {
    const away = openDatabase('postgres://nobody:nothing@127.0.0.1:1/nowhere');
    await using own = await startTestApi({ database: away });
    const answers = await Promise.all(Array.from({ length: 10 }, () => own.deliver({ body: orderEvent() })));
    for (const answer of answers) {
      expect([answer.status, problemOf(answer).code]).toEqual([503, 'database_unavailable']);
      expect(answer.headers.get('retry-after')).toBe('2');
    }
    expect((await own.deliver({ body: orderEvent(), secret: 'forged' })).status).toBe(401);
    await away.close();
  });
});
