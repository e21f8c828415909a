import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { auditLog, orders } from '#db/schema.ts';
import { newKey, postOnce, successorOf } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const api = disposedAtEnd(await startTestApi());

const HOUR = 3_600_000;

it('a successor key continues the work of the former key, and the audit log distinguishes the two', async () => {
  const { id, prefix, client: former } = await newKey(api, { ownWorkOnly: true });
  const made = await makeOwnWork(api, former);
  const { client: successor, id: successorId } = await successorOf(api, prefix, HOUR);
  expect((await successor.get(`/v1/orders/${made.ids.order}`)).status).toBe(200);
  expect((await successor.get(`/v1/esims/${made.ids.esim}/activation`)).status).toBe(200);
  const later = await makeOwnWork(api, successor);
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
  const { prefix, client } = await newKey(api, { ownWorkOnly: true });
  const body = { package_id: 101, external_order_id: 'over-the-rotation' };
  const first = await postOnce(client, '/v1/orders', body, 'once');
  const again = await postOnce((await successorOf(api, prefix, HOUR)).client, '/v1/orders', body, 'once');
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([202, first.text, 'true']);
});
