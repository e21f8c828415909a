import { eq } from 'drizzle-orm';
import { afterAll, expect, it } from 'vitest';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey, apiScopes, rotateApiKey } from '#db/access/api-keys.ts';
import { auditLog, orders } from '#db/schema.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const api = await startTestApi();
afterAll(() => api[Symbol.asyncDispose]());

const HOUR = 3_600_000;
const client = (key: string) => new HttpClient(api.baseUrl, { authorization: `Bearer ${key}` });

/** An own-work key and its successor. */
async function rotated() {
  const [first, second] = [generateApiKey(), generateApiKey()];
  const id = await api.database.run((db) =>
    addApiKey(db, { name: 'shop', ...first, scopes: apiScopes, ownWorkOnly: true }),
  );
  const former = client(first.key);
  return {
    id,
    former,
    rotate: async () => {
      const now = new Date(api.clock.now);
      const result = await api.database.transaction((tx) =>
        rotateApiKey(tx, first.prefix, second, { overlapMs: HOUR, now }),
      );
      if (!result.ok) throw new Error(JSON.stringify(result.refusal));
      return { successor: client(second.key), id: result.id };
    },
  };
}

it('a successor key continues the work of the former key, and the audit log distinguishes the two', async () => {
  const { id, former, rotate } = await rotated();
  const made = await makeOwnWork(api, former);
  const { successor, id: successorId } = await rotate();
  expect((await successor.get(`/v1/orders/${made.ids.order}`)).status).toBe(200);
  expect((await successor.get(`/v1/esims/${made.ids.esim}/activation`)).status).toBe(200);
  const later = await makeOwnWork(api, successor);
  expect((await former.get(`/v1/orders/${later.ids.order}`)).status).toBe(200);
  const stored = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, later.ids.order)));
  // The gate finds the spend limit of the key and its successors by this id.
  expect(stored[0]?.apiKeyId).toBe(id);
  // As with webhook endpoints: the id of the first key, for both callers.
  for (const by of [former, successor])
    expect((await by.get(`/v1/orders/${later.ids.order}`)).at('created_by')).toBe(id);
  const audited = await api.database.run((db) =>
    db.select().from(auditLog).where(eq(auditLog.subjectId, made.ids.esim)),
  );
  expect(audited.map(({ actor }) => actor)).toEqual([successorId]);
});

it('a retry after the rotation gets the first answer again, and creates nothing', async () => {
  const { former, rotate } = await rotated();
  const body = { package_id: 101, external_order_id: 'over-the-rotation' };
  const call = { headers: { 'Idempotency-Key': 'once' } };
  const first = await former.post('/v1/orders', body, call);
  const { successor } = await rotate();
  const again = await successor.post('/v1/orders', body, call);
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
});

it('the former key works until the end of the overlap', async () => {
  const { former, rotate } = await rotated();
  const { successor } = await rotate();
  api.clock.now = TEST_NOW + HOUR - 1;
  expect((await former.get('/v1/orders')).status).toBe(200);
  api.clock.now = TEST_NOW + HOUR;
  expect((await former.get('/v1/orders')).status).toBe(401);
  expect((await successor.get('/v1/orders')).status).toBe(200);
  api.clock.now = TEST_NOW;
});
