import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import { cases, inbox, orders, timeline } from '#db/schema.ts';
import { InboxWriter, type VerifiedDelivery } from '#fulfilment/reports/inbox-writer.ts';
import { startTestApi, TEST_NOW, WEBHOOK_SECRET, type Delivery, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { openDatabase } from '#test/support/servers/database.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

const NOW_SECONDS = TEST_NOW / 1_000;

const orderEvent = (outcome = 'completed', more: Record<string, unknown> = {}) => ({
  event: `order.${outcome}`,
  data: { id: `svc-${randomUUID()}`, external_order_id: `ref-${randomUUID()}`, status: outcome, ...more },
});
const rowsOf = (deliveryId: string) =>
  api.database.run((db) => db.select().from(inbox).where(eq(inbox.deliveryId, deliveryId)).orderBy(inbox.id));
const countRows = () => api.database.run((db) => db.$count(inbox));
const result = (answer: HttpAnswer) => [answer.status, answer.at('result')];

describe('a signed delivery', () => {
  it('is stored encrypted before its 200 [spec: header.webhook.event, signature.accepted-before-2xx]', async () => {
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

  it('of a ping is acknowledged and ignored [spec: event.ping]', async () => {
    const id = randomUUID();
    const wakeUps = api.wakeUps();
    expect(result(await api.deliver({ id, body: { event: 'ping' } }))).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'ignored', event: 'ping' }]);
    expect(api.wakeUps()).toBe(wakeUps);
  });

  it('is accepted without an event header, because the signed body contains the event', async () => {
    const answer = await api.deliver({ body: orderEvent(), headers: { 'X-Service-Event': undefined } });
    expect(result(answer)).toEqual([200, 'accepted']);
  });

  it.each(['order.failed', 'order.exploded', 'ping', ''])(
    'is judged by its signed body for event header %j [spec: header.webhook.event]',
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
    .parse(JSON.parse(readFileSync(new URL('../../vectors/webhook-vectors.json', import.meta.url), 'utf8')));

  it('is verified [spec: signature.signed-string, header.webhook.signature, header.webhook.timestamp]', async () => {
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

  it.each([-300, 300])(
    'is accepted with a time difference of %i seconds [spec: limit.webhook-tolerance]',
    async (difference) => {
      const answer = await api.deliver({ body: orderEvent(), timestamp: String(NOW_SECONDS + difference) });
      expect(result(answer)).toEqual([200, 'accepted']);
    },
  );

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

describe('an unauthentic delivery gets 401 and stores nothing', () => {
  const verdictOn = async (delivery: Partial<Delivery>) => {
    const before = await countRows();
    const answer = await api.deliver({ body: orderEvent(), ...delivery });
    return { status: answer.status, code: answer.read(problemSchema).code, stored: (await countRows()) - before };
  };
  const refusal = { status: 401, code: 'invalid_signature', stored: 0 };
  const n = String(NOW_SECONDS);

  it.each([
    ['301 seconds old', String(NOW_SECONDS - 301)],
    ['301 seconds ahead', String(NOW_SECONDS + 301)],
    ['with a sign', `+${n}`],
    ['with a fraction', `${n}.0`],
    ['with letters behind', `${n}abc`],
    ['with an exponent', '1.7e9'],
    ['hexadecimal', `0x${NOW_SECONDS.toString(16)}`],
    ['negative', '-1'],
    ['of 21 digits', '1'.repeat(21)],
    ['with leading zeros to 21 digits', n.padStart(21, '0')],
    ['empty', ''],
    ['in milliseconds', String(TEST_NOW)],
    ['with a blank inside', `${n.slice(0, 5)} ${n.slice(5)}`],
    ['in other digits', '١٧٠٠٠٠٠٠٠٠'],
  ])(
    'time %s [spec: signature.stale-401, signature.digits-only, header.webhook.timestamp, limit.webhook-tolerance]',
    async (_name, timestamp) => {
      // Header values are bytes. Characters outside of ASCII are sent as UTF-8.
      const wire = Buffer.from(timestamp, 'utf8').toString('latin1');
      expect(await verdictOn({ timestamp, headers: { 'X-Service-Timestamp': wire } })).toEqual(refusal);
    },
  );

  it('timestamp missing', async () => {
    expect(await verdictOn({ headers: { 'X-Service-Timestamp': undefined } })).toEqual(refusal);
  });

  it('another secret [spec: signature.invalid-401]', async () => {
    expect(await verdictOn({ secret: 'not the secret' })).toEqual(refusal);
  });

  it.each<[string, (signature: string) => string | undefined]>([
    ['missing', () => undefined],
    ['empty', () => ''],
    ['without its label', (hex) => hex],
    ['in upper case', (hex) => `v1=${hex.toUpperCase()}`],
    ['with an upper-case label', (hex) => `V1=${hex}`],
    ['one digit short', (hex) => `v1=${hex.slice(1)}`],
    ['one digit long', (hex) => `v1=${hex}0`],
    ['with junk behind', (hex) => `v1=${hex} x`],
    ['doubled', (hex) => `v1=${hex}${hex}`],
    ['v0', (hex) => `v0=${hex}`],
    ['v2', (hex) => `v2=${hex}`],
    ['a list', (hex) => `v1=${hex},v1=${hex}`],
    ['a list of versions', (hex) => `v0=${hex},v1=${hex}`],
    ['in base64', (hex) => `v1=${Buffer.from(hex, 'hex').toString('base64')}`],
    ['of zeros', () => `v1=${'0'.repeat(64)}`],
  ])(
    'signature %s [spec: signature.invalid-401, versioning.signature-label, header.webhook.signature]',
    async (_name, change) => {
      const body = JSON.stringify(orderEvent());
      const hex = createHmac('sha256', WEBHOOK_SECRET).update(`${n}.${body}`).digest('hex');
      expect(await verdictOn({ body, headers: { 'X-Service-Signature': change(hex) } })).toEqual(refusal);
    },
  );

  it('signature header sent twice', async () => {
    const before = await countRows();
    const body = JSON.stringify(orderEvent());
    const signature = `v1=${createHmac('sha256', WEBHOOK_SECRET).update(`${n}.${body}`).digest('hex')}`;
    const headers = [
      ['X-Service-Timestamp', n],
      ['X-Service-Delivery', randomUUID()],
      ['X-Service-Signature', signature],
      ['X-Service-Signature', signature],
    ];
    expect(await rawPost(`${api.baseUrl}/webhooks/service`, headers, body)).toBe(401);
    expect(await countRows()).toBe(before);
  });

  it('a byte of the body altered [spec: signature.invalid-401, signature.signed-string]', async () => {
    const body = JSON.stringify(orderEvent());
    const hex = createHmac('sha256', WEBHOOK_SECRET).update(`${n}.${body}`).digest('hex');
    expect(await verdictOn({ body: `${body} `, headers: { 'X-Service-Signature': `v1=${hex}` } })).toEqual(refusal);
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
    const before = await countRows();
    const answer = await api.deliver({ body: orderEvent(), headers: { 'X-Service-Delivery': id } });
    expect([answer.status, answer.read(problemSchema).code]).toEqual([400, 'delivery_id_missing']);
    expect(await countRows()).toBe(before);
  });

  const deep = 50_000;
  it.each<[string, Delivery]>([
    ['is not JSON', { body: 'hello' }],
    ['is empty', { body: '' }],
    ['is not UTF-8', { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
    ['names a field twice', { body: '{"event":"ping","event":"order.completed"}' }],
    ['names no event', { body: { data: {} } }],
    ['names an unknown kind', { body: { event: 'order.exploded' } }],
    ['has an unknown kind', { body: { event: 'topup.completed' } }],
    ['lacks the order', { body: { event: 'order.completed', data: {} } }],
    ['contradicts itself', { body: orderEvent('completed', { status: 'failed' }) }],
    ['holds NUL in the id of the order', { body: orderEvent('completed', { id: 'a\0b' }) }],
    ['is deeply nested', { body: `${'['.repeat(deep / 2)}${']'.repeat(deep / 2)}` }],
    ['is one long text', { body: JSON.stringify('x'.repeat(60_000)) }],
    ['is one long text of escapes', { body: JSON.stringify('\n'.repeat(30_000)) }],
    [
      'holds NUL in the id of a cancelled eSIM',
      { body: { event: 'esim.cancelled', data: { esim_id: 'a\0b', status: 'cancelled' } } },
    ],
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
    expect(result(await api.deliver({ id, body: orderEvent('completed', { esim_id: 'a\0b' }) }))).toEqual([
      200,
      'accepted',
    ]);
    expect(await rowsOf(id)).toMatchObject([{ state: 'pending', serviceEsimId: null }]);
  });

  it('is stored without its unusable reference', async () => {
    const id = randomUUID();
    const body = orderEvent('completed', { external_order_id: `${'x'.repeat(3_000)}\0` });
    expect(result(await api.deliver({ id, body }))).toEqual([200, 'accepted']);
    expect(await rowsOf(id)).toMatchObject([{ state: 'pending', reference: null, serviceId: body.data.id }]);
  });

  it.each(['gzip', 'br', 'deflate', 'x-unknown'])(
    'gets 415 with Content-Encoding: %s, and nothing is stored',
    async (encoding) => {
      const before = await countRows();
      const answer = await api.deliver({ body: orderEvent(), headers: { 'Content-Encoding': encoding } });
      expect([answer.status, answer.read(problemSchema).code]).toEqual([415, 'unsupported_encoding']);
      expect(await countRows()).toBe(before);
    },
  );

  it('gets 413 above the size limit, and nothing is stored', async () => {
    const before = await countRows();
    const answer = await api.deliver({ body: orderEvent('completed', { note: 'x'.repeat(70_000) }) });
    expect([answer.status, answer.read(problemSchema).code]).toEqual([413, 'payload_too_large']);
    expect(await countRows()).toBe(before);
  });

  it('is accepted with any content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
      expect(result(await api.deliver({ body: orderEvent(), headers: { 'Content-Type': type } }))).toEqual([
        200,
        'accepted',
      ]);
    }
  });

  it('gets 503 while the database is unavailable [spec: signature.accepted-before-2xx]', async () => {
    const away = openDatabase('postgres://nobody:nothing@127.0.0.1:1/nowhere');
    await using own = await startTestApi({ database: away });
    const answers = await Promise.all(Array.from({ length: 10 }, () => own.deliver({ body: orderEvent() })));
    for (const answer of answers) {
      expect([answer.status, answer.read(problemSchema).code]).toEqual([503, 'database_unavailable']);
      expect(answer.headers.get('retry-after')).toBe('2');
    }
    expect((await own.deliver({ body: orderEvent(), secret: 'forged' })).status).toBe(401);
    await away.close();
  });
});

describe('a repeated delivery', () => {
  it('fifty times at once leaves one row [spec: signature.duplicates, header.webhook.delivery]', async () => {
    const id = randomUUID();
    const body = orderEvent();
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.deliver({ id, body })));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(answers.filter((answer) => answer.at('result') === 'accepted')).toHaveLength(1);
    expect(answers.filter((answer) => answer.at('result') === 'duplicate')).toHaveLength(49);
    expect(await rowsOf(id)).toHaveLength(1);
  });

  it('with fifty identical requests to two processes leaves one row', async () => {
    const id = randomUUID();
    const body = Buffer.from(JSON.stringify(orderEvent()));
    const deliveries = Array.from({ length: 50 }, () => verified({ deliveryId: id, body }));
    const databases = [openDatabase(api.databaseUrl), openDatabase(api.databaseUrl)];
    const intakes = databases.map((database) => new InboxWriter(database, api.keyRing));
    const results = await Promise.all(deliveries.map((delivery, position) => intakes[position % 2]!.accept(delivery)));
    expect(results.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'duplicate')).toHaveLength(49);
    expect(await rowsOf(id)).toHaveLength(1);
    await Promise.all(databases.map((database) => database.close()));
  });

  it('with a new signature is a duplicate [spec: signature.duplicates, gap.redelivery]', async () => {
    const id = randomUUID();
    const body = orderEvent();
    await api.deliver({ id, body });
    expect(result(await api.deliver({ id, body, timestamp: String(NOW_SECONDS + 60) }))).toEqual([200, 'duplicate']);
    expect(await rowsOf(id)).toHaveLength(1);
  });

  it('under another id is stored as a replay without effect', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const body = orderEvent();
    await api.deliver({ id: first, body });
    const wakeUps = api.wakeUps();
    expect(result(await api.deliver({ id: second, body }))).toEqual([200, 'replayed']);
    expect(result(await api.deliver({ id: second, body }))).toEqual([200, 'duplicate']);
    expect(api.wakeUps()).toBe(wakeUps);
    expect(await rowsOf(second)).toMatchObject([{ state: 'replayed' }]);
    expect(await rowsOf(first)).toMatchObject([{ state: 'pending' }]);
  });

  it.each([
    ['under its own id is a duplicate', (id: string) => id, 'duplicate'],
    ['under another id is a replay', () => randomUUID(), 'replayed'],
  ])('with another event header first has its effect once; the genuine delivery %s', async (_how, idOf, expected) => {
    const first = randomUUID();
    const body = orderEvent('completed');
    expect(result(await api.deliver({ id: first, body, event: 'order.failed' }))).toEqual([200, 'accepted']);
    expect(result(await api.deliver({ id: idOf(first), body, event: 'order.completed' }))).toEqual([200, expected]);
    expect(await rowsOf(first)).toMatchObject([{ state: 'pending', outcome: 'completed' }]);
  });

  it('with fifty different ids leaves one row with an effect', async () => {
    const body = orderEvent();
    const ids = Array.from({ length: 50 }, () => randomUUID());
    const answers = await Promise.all(ids.map((id) => api.deliver({ id, body })));
    expect(answers.filter((answer) => answer.at('result') === 'accepted')).toHaveLength(1);
    expect(answers.filter((answer) => answer.at('result') === 'replayed')).toHaveLength(49);
    const effective = await api.database.run((db) =>
      db
        .select()
        .from(inbox)
        .where(and(eq(inbox.serviceId, body.data.id), eq(inbox.state, 'pending'))),
    );
    expect(effective).toHaveLength(1);
  });

  it('with another body under its id is stored and opens a case [spec: gap.redelivery]', async () => {
    const id = randomUUID();
    const [first, second] = [orderEvent('processing'), orderEvent('failed')];
    await api.deliver({ id, body: first });
    expect(result(await api.deliver({ id, body: second }))).toEqual([200, 'accepted']);
    expect(result(await api.deliver({ id, body: second }))).toEqual([200, 'duplicate']);
    expect((await rowsOf(id)).map(({ state, outcome }) => [state, outcome])).toEqual([
      ['pending', 'processing'],
      ['pending', 'failed'],
    ]);
    const opened = await api.database.run((db) => db.select().from(cases).where(eq(cases.subjectId, id)));
    expect(opened).toMatchObject([{ subjectKind: 'delivery', reason: 'webhook_conflict', closedAt: null }]);
    const alerts = api.log.filter((line) => line.includes(id) && line.includes('"level":"error"'));
    expect(alerts).toHaveLength(1);
    expect(await metric('reseller_webhook_deliveries_total{result="conflict"}')).toBe(1);
  });

  it('with two bodies under one id opens one case, also across processes', async () => {
    const databases = [openDatabase(api.databaseUrl), openDatabase(api.databaseUrl)];
    const intakes = databases.map((database) => new InboxWriter(database, api.keyRing));
    for (let round = 0; round < 20; round += 1) {
      const deliveryId = randomUUID();
      const results = await Promise.all(
        intakes.map((intake) =>
          intake.accept(verified({ deliveryId, body: Buffer.from(JSON.stringify(orderEvent())) })),
        ),
      );
      expect(results.map(({ kind }) => kind)).toEqual(['stored', 'stored']);
      expect(results.filter(({ conflict }) => conflict === 'new')).toHaveLength(1);
    }
    await Promise.all(databases.map((database) => database.close()));
  });

  it('with a conflict about an order appears in its timeline', async () => {
    const caller = await api.caller();
    const created = await caller.post(
      '/v1/orders',
      { package_id: 1, external_order_id: randomUUID() },
      { headers: { 'Idempotency-Key': randomUUID() } },
    );
    const orderId = String(created.at('id'));
    const id = randomUUID();
    await api.deliver({ id, body: orderEvent() });
    // As the relay does after it matched the delivery.
    await api.database.run((db) =>
      db.update(inbox).set({ subjectKind: 'order', subjectId: orderId }).where(eq(inbox.deliveryId, id)),
    );
    await api.deliver({ id, body: orderEvent() });
    const entries = await api.database.run((db) =>
      db
        .select()
        .from(timeline)
        .where(and(eq(timeline.subjectId, orderId), eq(timeline.event, 'webhook.conflict'))),
    );
    expect(entries).toMatchObject([{ detail: { delivery_id: id } }]);
    expect(await api.database.run((db) => db.select().from(orders).where(eq(orders.id, orderId)))).toMatchObject([
      { status: 'accepted' },
    ]);
  });

  it('that PostgreSQL refuses does not affect others in its batch', async () => {
    const intake = new InboxWriter(api.database, api.keyRing);
    const good = Array.from({ length: 5 }, () => verified({}));
    const poison = verified({ reading: { state: 'pending', outcome: 'failed', serviceId: 'a\0b' } });
    const outcomes = await Promise.allSettled(
      [...good, poison, ...good.map(() => verified({}))].map((each) => intake.accept(each)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array(5).fill('fulfilled'),
      'rejected',
      ...Array(5).fill('fulfilled'),
    ]);
    expect(await rowsOf(poison.deliveryId)).toEqual([]);
  });
});

function verified(more: Partial<VerifiedDelivery>): VerifiedDelivery {
  return {
    deliveryId: randomUUID(),
    timestamp: String(NOW_SECONDS),
    body: Buffer.from(randomUUID()),
    headerEvent: undefined,
    reading: { state: 'pending', event: 'order.failed', outcome: 'failed', serviceId: randomUUID() },
    ...more,
  };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${api.baseUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(name)) ?? '';
  return Number(line.slice(name.length));
}

/** Sends each header line separately. `fetch` joins repeated ones. */
async function rawPost(url: string, headers: string[][], body: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sent = request(
    url,
    {
      method: 'POST',
      headers: [...headers, ['Content-Length', String(Buffer.byteLength(body))], ['Host', 'x']].flat(),
    },
    (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    },
  );
  sent.once('error', reject).end(body);
  return promise;
}
