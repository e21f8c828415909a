import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eq, inArray } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { PROJECT } from '#test/support/compose.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { releaseUpdate } from '#workflows/messages.ts';

/** The purchase gate on the whole product: API, worker, Temporal and the simulator. */

const environment = { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, 'retry.hold_delay': '30s' };
const stack = disposedAtEnd(await startStack({ environment }));
const desk = new OrderDesk(stack);
const temporal = disposedAtEnd(await TemporalOperator.connect(stack));
afterEach(async () => {
  // Left by a test that failed, it would hold the orders of all others.
  for (const { id } of (await gate()).at('pauses') as { id: string }[]) await endPause(id);
  await desk.simulator.calm();
  await desk.checkBooks();
});

const gate = async () => stack.api.get('/v1/purchase-gate');
const circuitOf = async (name: string) => {
  const { circuits } = (await gate()).body as { circuits: { name: string; state: string }[] };
  return circuits.find((one) => one.name === name)?.state;
};
const pause = (body: Record<string, unknown> = {}) =>
  postOnce(stack.api, '/v1/purchase-gate/pauses', { reason: 'Stock-taking.', ...body });
const endPause = (id: string) => stack.api.delete(`/v1/purchase-gate/pauses/${id}?reason=Done.`);
const place = (count: number) => Promise.all(Array.from({ length: count }, () => desk.place(PACKAGE.completedAtOnce)));

it('a service outage is probed by one canary at a time, and each held order is bought once afterwards', async () => {
  await desk.simulator.onRequest('createOrder', { kind: 'rate_limited', retry_after: 0 }, { count: 6 });
  const ids = await place(8);
  for (const id of ids) await desk.reaches(id, 'completed');
  await expect.poll(() => circuitOf('rate_limited')).toBe('closed');
  for (const id of ids) expect(await desk.movements(id)).toEqual(['debit 2.40']);
  // Six refused sends and eight purchases; no other calls.
  expect(await desk.simulator.requests('createOrder')).toHaveLength(14);
  expect((await gate()).at('held')).toEqual([]);
});

describe('a pause of buying', () => {
  it('holds orders with its id and author as the reason, and its release continues all of them', async () => {
    const made = await pause();
    expect([made.status, (await pause()).status]).toEqual([201, 200]);
    const id = made.textAt('id');
    const location = made.headers.get('location') ?? '';
    expect((await stack.api.get(location)).at('id')).toBe(id);
    const [first, second] = await place(2);
    const held = await desk.reaches(first!, 'held');
    expect(held.at('failure', 'class')).toBe('purchases_paused');
    expect(held.at('failure', 'detail')).toContain(id);
    expect(held.at('operations', 'resubmission', 'verdict')).toBe('not_needed');
    expect((await gate()).at('pauses', 0, 'id')).toBe(id);
    const explained = { status: 'held', failure: 'purchases_paused', resubmission: { verdict: 'not_needed' } };
    expect(await temporal.order(first!).query('explain')).toMatchObject(explained);
    expect((await endPause(id)).at('released_by')).toMatch(/^key_/);
    expect((await stack.api.get(location)).at('release_reason')).toBe('Done.');
    for (const each of [first!, second!]) await desk.reaches(each, 'completed');
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([
      { action: 'gate.pause', reason: 'Stock-taking.' },
      { action: 'gate.release', reason: 'Done.' },
    ]);
  });

  it('lets only a released order pass, released by the API or from the Temporal UI', async () => {
    // A cancellation spends nothing.
    expect((await pause({ kind: 'cancellation' })).at('code')).toBe('validation_failed');
    const id = (await pause({ kind: 'order' })).textAt('id');
    const [byApi, byUi, other] = await place(3);
    for (const each of [byApi!, byUi!, other!]) await desk.reaches(each, 'held');
    const degraded = async () => (await stack.api.get('/readyz')).at('degraded');
    const detail = `Purchases are paused: order (${id}). See \`npx reseller gate show\`.`;
    await expect.poll(degraded).toContainEqual({ condition: 'purchases_paused', detail });
    const release = () => stack.api.post(`/v1/orders/${byApi}/release`, { reason: 'At the counter.' });
    expect((await release()).status).toBe(200);
    await desk.reaches(byApi!, 'completed');
    expect((await release()).at('refusal')).toBe('already_ended');
    await temporal.order(byUi!).executeUpdate(releaseUpdate, { args: [{ by: 'Ada', reason: 'Urgent.' }] });
    await desk.reaches(byUi!, 'completed');
    expect((await desk.reaches(other!, 'held')).at('status')).toBe('held');
    await endPause(id);
    await desk.reaches(other!, 'completed');
    expect((await desk.events(byApi!)).filter((event) => event === 'operator.release')).toHaveLength(1);
  });
});

const reseller = async (...args: string[]) => {
  const env = { PATH: process.env['PATH'], RESELLER_API_KEY: stack.apiKey };
  const api = `http://127.0.0.1:${stack.environments.api['API_PORT']}`;
  return (
    await promisify(execFile)(process.execPath, [join(PROJECT, 'cli/reseller.mjs'), ...args, '--api', api], { env })
  ).stdout;
};

it('reseller gate shows the reasons of held purchases, and creates and releases a pause', async () => {
  const paused = await reseller('gate', 'pause', '--kind', 'order', '--reason', 'Stock-taking.');
  const [id = ''] = paused.split(' ');
  const order = await desk.place(PACKAGE.completedAtOnce);
  await desk.reaches(order, 'held');
  const shown = await reseller('gate', 'show');
  expect(shown).toMatch(/^Circuits: all closed$/m);
  expect(shown).toContain(`Pause ${id}: order paused, by key_`);
  expect(shown).toMatch(new RegExp(`^Held at pause:${id} \\(purchases_paused\\): 1 purchase, .*oldest ${order}`, 'm'));
  expect(shown).toMatch(/^Spent on \d{4}-\d\d-\d\d: [\d.]+ USD$/m);
  expect(await reseller('orders', 'release', order, '--reason', 'Urgent.')).toContain(
    `${order}  released through the gate`,
  );
  await desk.reaches(order, 'completed');
  expect(await reseller('gate', 'release', id, '--reason', 'Done.')).toContain('released at');
});

describe('a bulk action', () => {
  const bulk = (body: Record<string, unknown>, key?: string) =>
    postOnce(stack.api, '/v1/orders/bulk-actions', { reason: 'Given up together.', ...body }, key);

  it('is previewed, applied to each item like a single action, and idempotent', async () => {
    const id = (await pause()).textAt('id');
    const ids = await place(3);
    for (const each of ids) await desk.reaches(each, 'held');
    const filter = { status: 'held', failure_class: 'purchases_paused' };
    expect((await bulk({ action: 'abandon', filter, dry_run: true })).body).toMatchObject({
      dry_run: true,
      matched: 3,
      remaining: 0,
      data: ids.map(() => ({ result: 'would_apply', status: 'held' })),
    });
    expect((await desk.reaches(ids[0]!, 'held')).at('status')).toBe('held');

    const once = randomUUID();
    const done = await bulk({ action: 'abandon', filter }, once);
    expect(done.body).toMatchObject({ matched: 3, data: ids.map(() => ({ result: 'applied' })) });
    const unchanged = { matched: 3, data: ids.map(() => ({ result: 'unchanged', status: 'abandoned' })) };
    expect((await bulk({ action: 'abandon', filter }, once)).body).toMatchObject(unchanged);
    for (const each of ids) {
      expect((await desk.reaches(each, 'abandoned')).at('operations', 'resubmission', 'verdict')).toBe('yes');
      expect((await desk.events(each)).filter((event) => event === 'operator.abandon')).toHaveLength(1);
    }
    expect(
      await stack.database.run((db) => db.select().from(auditLog).where(inArray(auditLog.subjectId, ids))),
    ).toHaveLength(3);
    await endPause(id);
  });

  it('names the refusal of each item, and requires a narrower filter', async () => {
    const done = await desk.complete(PACKAGE.completedAtOnce);
    const missing = `ord_${'0'.repeat(26)}`;
    expect((await bulk({ action: 'retry', filter: { ids: [done.textAt('id'), missing] } })).body).toMatchObject({
      data: [
        { id: done.textAt('id'), result: 'refused', refusal: 'already_ended' },
        { id: missing, result: 'not_found' },
      ],
    });
    for (const wrong of [
      { action: 'retry', filter: {} },
      { action: 'limit', filter: { ids: [missing] } },
    ])
      expect((await bulk(wrong)).status).toBe(400);
  });

  it('resolves the cases of many orders like single actions', async () => {
    const ids: string[] = [];
    for (const order of [await desk.complete(PACKAGE.completedAtOnce), await desk.complete(PACKAGE.completedAtOnce)]) {
      const names = { id: order.textAt('service_order_id'), external_order_id: order.textAt('external_order_id') };
      const data = { ...names, status: 'failed' };
      await desk.simulator.sendWebhook({ event: 'order.failed', data });
      ids.push(order.textAt('id'));
    }
    for (const id of ids) await expect.poll(() => desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
    const without = await desk.complete(PACKAGE.completedAtOnce);
    const filter = { ids: [...ids, without.textAt('id')] };
    const judgement = { action: 'resolve', case: 'contradiction', verdict: 'dismissed', filter };
    const results = [
      { id: ids[0], result: 'applied' },
      { id: ids[1], result: 'applied' },
      { id: without.textAt('id'), result: 'refused', refusal: 'case_not_open' },
    ];
    expect((await bulk({ ...judgement, dry_run: true })).body).toMatchObject({
      data: results.map((each) => ({ ...each, result: each.result === 'applied' ? 'would_apply' : each.result })),
    });
    expect((await bulk(judgement)).body).toMatchObject({ data: results });
    for (const id of ids) expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: false }]);
  });
});
