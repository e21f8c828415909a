import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderOutput, orderPage } from '#api/orders/order-schemas.ts';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { timelinePage } from '#api/work/timeline-schemas.ts';
import { deviceImeiAad } from '#db/encryption-aads.ts';
import { idempotencyKeys, orders, outbox, timeline } from '#db/schema.ts';
import { orderReads } from '#db/work/order-queries.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';

let api: TestApi;
let caller: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  caller = await api.caller();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

const IMEI = '490154203237518';
const input = (more: Record<string, unknown> = {}) => ({
  package_id: 101,
  external_order_id: `ref-${randomUUID()}`,
  ...more,
});
const create = (body: unknown, key: string = randomUUID(), by: HttpClient = caller): Promise<HttpAnswer> =>
  by.post('/v1/orders', body, { headers: { 'Idempotency-Key': key } });
/** The answer, validated by the schema that documents it. */
const order = (answer: HttpAnswer) => answer.read(orderOutput);
const problem = (answer: HttpAnswer) => answer.read(problemSchema);

describe('the creation of an order', () => {
  it('stores order, start request and first timeline entry together, and returns 202 with its address', async () => {
    const wakeUps = api.wakeUps();
    const body = input({
      max_price: { amount: '12.50', currency: 'EUR' },
      deadline: '2030-02-01T01:00:00+01:00',
      metadata: { shop_order: 'A-1' },
    });
    const answer = await create(body);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${order(answer).id}`);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^ord_[0-9A-Z]{26}$/),
      status: 'accepted',
      package_id: 101,
      external_order_id: body.external_order_id,
      esim_id: null,
      service_order_id: null,
      max_price: { amount: '12.50', currency: 'EUR' },
      charged: null,
      failure: null,
      attention: null,
      resubmission: { verdict: 'not_needed', reason: expect.stringContaining('this one continues') },
      next_step_at: null,
      deadline: '2030-02-01T00:00:00.000Z',
      retry_policy: {
        attempts: null,
        first_wait_seconds: null,
        longest_wait_seconds: null,
        gives_up_at: null,
        changed: [],
      },
      metadata: { shop_order: 'A-1' },
      attempts: 0,
      created_by: expect.stringMatching(/^key_[0-9A-Z]{26}$/),
      created_at: new Date(TEST_NOW).toISOString(),
      updated_at: new Date(TEST_NOW).toISOString(),
      completed_at: null,
    });
    const { id } = order(answer);
    const started = await api.database.run((db) => db.select().from(outbox).where(eq(outbox.subjectId, id)));
    expect(started).toMatchObject([{ topic: 'start_work' }]);
    const entries = await api.database.run((db) => db.select().from(timeline).where(eq(timeline.subjectId, id)));
    expect(entries).toMatchObject([{ event: 'order.accepted', dedupKey: 'order.accepted' }]);
    expect(api.wakeUps()).toBe(wakeUps + 1);
    expect((await caller.get(`/v1/orders/${id}`)).body).toEqual(answer.body);
  });

  it('repeats the first answer for the same key, also with reordered fields and after the deadline', async () => {
    const body = input({ deadline: '2030-01-31T12:00:01Z' });
    const key = randomUUID();
    const first = await create(body, key);
    api.clock.now += 3_600_000;
    try {
      const reordered = Object.fromEntries(Object.entries(body).toReversed());
      const second = await create(reordered, key);
      expect(second.status).toBe(202);
      expect(second.text).toBe(first.text);
      expect(second.headers.get('location')).toBe(first.headers.get('location'));
      expect(first.headers.has('idempotent-replayed')).toBe(false);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
    } finally {
      api.clock.now = TEST_NOW;
    }
  });

  it('refuses the same key with another body and leaves the first order unchanged', async () => {
    const key = randomUUID();
    await create(input(), key);
    const other = input();
    const answer = await create(other, key);
    expect(answer.status).toBe(422);
    expect(problem(answer).code).toBe('idempotency_key_reused');
    expect((await caller.get(`/v1/orders?external_order_id=${other.external_order_id}`)).at('data')).toEqual([]);
  });

  it('separates the keys of two callers', async () => {
    const key = randomUUID();
    const [mine, theirs] = [await create(input(), key), await create(input(), key, await api.caller())];
    expect([mine.status, theirs.status]).toEqual([202, 202]);
    expect(order(mine).id).not.toBe(order(theirs).id);
  });

  it('creates one order for fifty identical concurrent requests', async () => {
    const body = input();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body, key)));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
    for (const other of answers.filter(({ status }) => status !== 202)) {
      expect(problem(other)).toMatchObject({ status: 409, code: 'idempotency_in_progress' });
      expect(other.headers.get('retry-after')).toBe('1');
    }
    const rows = await api.database.run((db) =>
      db.select().from(orders).where(eq(orders.externalOrderId, body.external_order_id)),
    );
    expect(rows).toHaveLength(1);
    expect((await create(body, key)).text).toBe(accepted[0]?.text);
  });

  it('creates one order for fifty keys with one external_order_id, and names it in each refusal', async () => {
    const body = input();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(body)));
    const made = answers.filter(({ status }) => status === 202);
    expect(made).toHaveLength(1);
    const { id } = order(made[0]!);
    for (const refused of answers.filter(({ status }) => status !== 202)) {
      expect(problem(refused)).toMatchObject({
        status: 409,
        code: 'external_order_id_taken',
        existing: { id, href: `/v1/orders/${id}` },
      });
    }
  });

  it('accepts the same key with a corrected request after a refusal', async () => {
    const key = randomUUID();
    expect((await create(input({ package_id: 0 }), key)).status).toBe(400);
    expect((await create(input({ deadline: '2030-01-31T11:59:59Z' }), key)).status).toBe(400);
    expect((await create(input(), key)).status).toBe(202);
  });

  it('requires an Idempotency-Key of visible characters', async () => {
    const missing = await caller.post('/v1/orders', input());
    expect([missing.status, problem(missing).code]).toEqual([400, 'idempotency_key_missing']);
    for (const key of [
      'a b',
      'x'.repeat(256),
      'ü',
      '"open',
      '""',
      '"a"b"',
      '"a\\b"',
      '"a", "b"',
      '"a";b',
      `"${'x'.repeat(256)}"`,
    ]) {
      const answer = await create(input(), key);
      expect([key, answer.status, problem(answer).code]).toEqual([key, 400, 'idempotency_key_invalid']);
    }
  });
});

describe('a quoted Idempotency-Key, as in the IETF draft', () => {
  it('is equal to the key without quotes', async () => {
    const body = input();
    const first = await create(body, '"4f5d2f0e \\"a\\" \\\\"');
    const again = await create(body, '"4f5d2f0e \\"a\\" \\\\"');
    expect([first.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([202, 'true', first.text]);
    const other = input();
    const bare = await create(other, 'quoted-or-bare');
    expect((await create(other, '"quoted-or-bare"')).text).toBe(bare.text);
  });
});

describe('the input check of an order', () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['no package', { package_id: undefined }, 'package_id'],
    ['a package id as text', { package_id: '101' }, 'package_id'],
    ['a fraction of a package', { package_id: 1.5 }, 'package_id'],
    ['a package id beyond the column', { package_id: 2 ** 31 }, 'package_id'],
    ['no reference', { external_order_id: undefined }, 'external_order_id'],
    ['a reference with a blank', { external_order_id: 'a b' }, 'external_order_id'],
    ['a reference that could be a derived one', { external_order_id: 'a~2' }, 'external_order_id'],
    ['a reference of 65 characters', { external_order_id: 'x'.repeat(65) }, 'external_order_id'],
    ['a reference with NUL', { external_order_id: 'a\0b' }, 'external_order_id'],
    ['an IMEI of 13 digits', { device_imei: '4901542032375' }, 'device_imei'],
    ['an IMEI of 17 digits', { device_imei: '49015420323751812' }, 'device_imei'],
    ['an IMEI with dashes', { device_imei: '49-015420-323751-8' }, 'device_imei'],
    ['an IMEI with a line feed', { device_imei: `${IMEI}\n` }, 'device_imei'],
    ['an IMEI in other digits', { device_imei: '٤٩٠١٥٤٢٠٣٢٣٧٥١٨' }, 'device_imei'],
    ['an IMEI as a number', { device_imei: 490_154_203_237_518 }, 'device_imei'],
    ['a price as a number', { max_price: { amount: 12.5, currency: 'EUR' } }, 'max_price.amount'],
    ['a price with an exponent', { max_price: { amount: '1e3', currency: 'EUR' } }, 'max_price.amount'],
    ['a price below zero', { max_price: { amount: '-1', currency: 'EUR' } }, 'max_price.amount'],
    ['seven digits after the point', { max_price: { amount: '1.0000001', currency: 'EUR' } }, 'max_price.amount'],
    ['a currency in lower case', { max_price: { amount: '1', currency: 'eur' } }, 'max_price.currency'],
    ['a price without currency', { max_price: { amount: '1' } }, 'max_price.currency'],
    ['a deadline without offset', { deadline: '2030-02-01T00:00:00' }, 'deadline'],
    ['a deadline on a day that does not exist', { deadline: '2030-02-30T00:00:00Z' }, 'deadline'],
    ['a deadline that is now', { deadline: '2030-01-31T12:00:00Z' }, 'deadline'],
    [
      '21 pairs of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'v'])) },
      'metadata',
    ],
    ['metadata that is no text', { metadata: { a: 1 } }, 'metadata.a'],
    ['metadata with NUL', { metadata: { a: '\0' } }, 'metadata.a'],
    ['metadata with half a surrogate pair', { metadata: { a: '\ud800' } }, 'metadata.a'],
    ['metadata under an unusable name', { metadata: { 'a b': 'c' } }, 'metadata.a b'],
    ['an unknown field', { colour: 'red' }, 'colour'],
    ['an unknown inner field', { max_price: { amount: '1', currency: 'EUR', vat: '0' } }, 'max_price.vat'],
  ];

  it.each(cases)('names the invalid field: %s', async (_name, change, field) => {
    const answer = await create(input(change));
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(problem(answer)).toMatchObject({
      code: 'validation_failed',
      type: '/problems/validation-failed',
      status: 400,
    });
    expect(problem(answer).errors).toEqual([{ in: 'body', field, message: expect.any(String) }]);
    expect(problem(answer).request_id).toBe(answer.headers.get('x-request-id'));
  });

  it('names all invalid fields at once, and missing ones', async () => {
    const answer = await create({ device_imei: 'x', colour: 'red' });
    expect(problem(answer).errors).toEqual(
      expect.arrayContaining([
        { in: 'body', field: 'package_id', message: 'is required' },
        { in: 'body', field: 'external_order_id', message: 'is required' },
        { in: 'body', field: 'device_imei', message: 'must have 14 to 16 digits and nothing else' },
        {
          in: 'body',
          field: 'colour',
          message: expect.stringMatching(/^is not a known field; known are `package_id`/),
        },
      ]),
    );
  });

  it.each([
    ['14', '49015420323751'],
    ['15', IMEI],
    ['16', '4901542032375181'],
  ])('accepts an IMEI of %s digits [spec: field.order.device_imei]', async (_digits, imei) => {
    expect((await create(input({ device_imei: imei }))).status).toBe(202);
  });

  it('keeps the IMEI encrypted in its row, and out of answers, log and stored answer', async () => {
    const key = randomUUID();
    const answer = await create(input({ device_imei: IMEI }), key);
    const { id } = order(answer);
    const [row] = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, id)));
    expect(api.keyRing.decryptText(row!.encryptedDeviceImei!, deviceImeiAad(id))).toBe(IMEI);
    expect(row!.encryptedDeviceImei!.includes(IMEI)).toBe(false);
    const refused = await create(input({ device_imei: `${IMEI}x` }));
    expect(answer.text + refused.text + (await caller.get(`/v1/orders/${id}`)).text).not.toContain(IMEI);
    expect(api.log.join('')).not.toContain(IMEI);
    const [stored] = await api.database.run((db) =>
      db.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, key)),
    );
    expect(stored!.encryptedResponseBody.includes(Buffer.from(id))).toBe(false);
  });

  it.each([
    ['broken JSON', '{"package_id":', 'malformed_json'],
    ['nothing', '', 'malformed_json'],
    ['a field twice', '{"package_id":1,"package_id":2}', 'malformed_json'],
    ['__proto__', '{"metadata":{"__proto__":"x"}}', 'malformed_json'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'malformed_json'],
    ['sixty thousand brackets', '['.repeat(60_000), 'malformed_json'],
    ['thirty thousand nested lists', '['.repeat(30_000) + ']'.repeat(30_000), 'malformed_json'],
    ['a list', '[]', 'validation_failed'],
    ['null', 'null', 'validation_failed'],
  ])('answers a body of %s with 400', async (_name, body, code) => {
    const answer = await caller.post('/v1/orders', body, {
      headers: { 'Idempotency-Key': randomUUID(), 'content-type': 'application/json' },
    });
    expect([answer.status, problem(answer).code]).toEqual([400, code]);
  });

  it('refuses other content types, encodings and sizes', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const text = await caller.post('/v1/orders', JSON.stringify(input()), {
      headers: { ...headers, 'content-type': 'text/plain' },
    });
    expect([text.status, problem(text).code]).toEqual([415, 'unsupported_media_type']);
    const zipped = await caller.post('/v1/orders', JSON.stringify(input()), {
      headers: { ...headers, 'content-encoding': 'gzip' },
    });
    expect([zipped.status, problem(zipped).code]).toEqual([415, 'unsupported_encoding']);
    const large = await create({ ...input(), metadata: { a: 'x'.repeat(70_000) } });
    expect([large.status, problem(large).code]).toEqual([413, 'payload_too_large']);
    expect(problem(large).detail).toBe('The limit is 65536 bytes.');
  });
});

describe('reading orders', () => {
  it('returns pages newest first, with each order once, also with equal times', async () => {
    await using own = await startTestApi();
    const by = await own.caller();
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      own.clock.now = TEST_NOW + Math.floor(n / 3);
      made.push((await create(input({ package_id: n < 5 ? 1 : 2 }), randomUUID(), by)).read(orderOutput).id);
    }
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const page = (await by.get(`/v1/orders?limit=2${cursor}`)).read(orderPage);
      seen.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    // Ids do not reflect the creation time. For equal times they only keep the order stable between pages.
    const newestFirst = (...some: readonly string[]) =>
      [some.slice(6), some.slice(3, 6), some.slice(0, 3)].flatMap((same) => same.toSorted().toReversed());
    expect(seen).toEqual(newestFirst(...made));
    const ids = async (query: string) => (await by.get(`/v1/orders?${query}`)).read(orderPage).data.map(({ id }) => id);
    expect(await ids('package_id=2')).toEqual([made[6], made[5]]);
    expect(await ids('status=completed')).toEqual([]);
    expect(await ids(`created_after=${new Date(TEST_NOW + 1).toISOString()}`)).toEqual([made[6]]);
    expect(await ids(`created_before=${new Date(TEST_NOW + 1).toISOString()}`)).toEqual(
      made.slice(0, 3).toSorted().toReversed(),
    );
  });

  it.each([
    ['of all orders', {}, 'orders_page'],
    ['of one status', { statuses: ['held'] } as const, 'orders_status_page'],
  ])('reads a page %s from an index, without sorting all orders', async (_name, filter, index) => {
    const after = { createdAt: new Date(TEST_NOW), id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD' };
    const plan = await api.database.transaction(async (tx) => {
      // With few rows a sort is cheaper. The test shows that none is necessary.
      await tx.execute('set local enable_sort = off');
      await tx.execute('set local enable_seqscan = off');
      const result = await tx.execute(
        sql`explain ${orderReads.list(tx, undefined, filter, { limit: 21, after }).getSQL()}`,
      );
      return JSON.stringify(result.rows);
    });
    expect(plan).toContain(`using ${index} `);
    expect(plan).not.toContain('Sort Key: orders');
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['status=bought', 'status'],
    ['created_after=yesterday', 'created_after'],
    // PostgreSQL cannot represent these times.
    ['created_after=-200000-01-01T00:00:00Z', 'created_after'],
    ['created_before=0000-01-01T00:00:00Z', 'created_before'],
    ['created_before=9999-12-31T23:59:59Z', 'created_before'],
    ['package_id=x', 'package_id'],
    ['external_order_id=%00', 'external_order_id'],
    ['cursor=abc', 'cursor'],
    ['cursor=bzou', 'cursor'],
    ['colour=red', 'colour'],
    ['__proto__=1', '__proto__'],
  ])('returns the parameter name for ?%s', async (query, field) => {
    const answer = await caller.get(`/v1/orders?${query}`);
    expect(answer.status).toBe(400);
    expect(problem(answer).errors).toEqual([{ in: 'query', field, message: expect.any(String) }]);
  });

  it('refuses a cursor of another list', async () => {
    const { id } = order(await create(input()));
    const timelineCursor = Buffer.from('t.1').toString('base64url');
    expect((await caller.get(`/v1/orders?cursor=${timelineCursor}`)).status).toBe(400);
    expect((await caller.get(`/v1/orders/${id}/timeline?cursor=${timelineCursor}`)).status).toBe(200);
  });

  it('returns 404 for an unknown id of any form', async () => {
    for (const id of ['ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', 'nonsense', '%00', "ord_'--"]) {
      for (const path of [`/v1/orders/${id}`, `/v1/orders/${id}/timeline`]) {
        const answer = await caller.get(path);
        expect([path, answer.status, problem(answer).code]).toEqual([path, 404, 'order_not_found']);
      }
    }
  });

  it('returns the record of the workflow: attempts, charge, failure and attention', async () => {
    const { id } = order(await create(input()));
    await api.database.run((db) =>
      db
        .update(orders)
        .set({
          status: 'needs_attention',
          failureClass: 'timeout',
          failureDetail: 'No answer within 20 s.',
          attentionReason: 'outcome_unknown',
          chargedAmount: '9.8',
          chargedCurrency: 'EUR',
          nextStepAt: new Date(TEST_NOW + 1_000),
        })
        .where(eq(orders.id, id)),
    );
    expect(order(await caller.get(`/v1/orders/${id}`))).toMatchObject({
      status: 'needs_attention',
      failure: {
        class: 'timeout',
        detail: 'No answer within 20 s.',
        meaning: expect.any(String),
        advice: expect.any(String),
      },
      attention: { reason: 'outcome_unknown', meaning: expect.any(String), advice: expect.any(String) },
      charged: { amount: '9.80', currency: 'EUR' },
      next_step_at: '2030-01-31T12:00:01.000Z',
    });
  });

  it('returns a timeline in pages, oldest first', async () => {
    const { id } = order(await create(input()));
    await api.database.run((db) =>
      db
        .insert(timeline)
        .values([1, 2].map((n) => ({ subjectKind: 'order', subjectId: id, event: `test.${n}`, message: 'm' }))),
    );
    const first = (await caller.get(`/v1/orders/${id}/timeline?limit=2`)).read(timelinePage);
    expect(first.data.map(({ event }) => event)).toEqual(['order.accepted', 'test.1']);
    const second = (await caller.get(`/v1/orders/${id}/timeline?limit=2&cursor=${first.next_cursor}`)).read(
      timelinePage,
    );
    expect(second.data.map(({ event }) => event)).toEqual(['test.2']);
    expect(second.next_cursor).toBeNull();
    for (const { current_state: currentState } of [first, second]) {
      expect(currentState).toMatchObject({
        now: 'The order is accepted and stored.',
        reason: null,
        next_at: null,
        resubmission: { verdict: 'not_needed' },
      });
    }
  });
});
