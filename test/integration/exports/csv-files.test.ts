/** Lists as CSV files, read by somebody else's reader: the csv module of Python. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { InFlight } from '#api/access/limits.ts';
import { newId } from '#db/connection/ids.ts';
import { journal, orders } from '#db/schema.ts';
import { AT_ONCE, EXPORTS } from '#domain/policy/api-policy.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { waitFor } from '#test/support/wait-for.ts';

const READER =
  'import csv, io, json, sys\nprint(json.dumps(list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, "utf-8", newline="")))))';
const rowsOfReader = z.array(z.record(z.string(), z.string()));

/** Reads a file as a foreign program does. */
function readByPython(csv: string): Record<string, string>[] {
  const { stdout, status, stderr } = spawnSync('python3', ['-c', READER], { input: csv, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return rowsOfReader.parse(JSON.parse(stdout));
}

const running = { file: new InFlight(), many: new InFlight() };
const api = await startTestApi({ running });
const caller = await api.caller();
afterAll(() => api[Symbol.asyncDispose]());

const order = (more: Record<string, unknown> = {}, by = caller) => postOnce(by, '/v1/orders', orderInput(more));

describe('a file of orders', () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\tx', '\rx', '＝1'];
  const texts = [...formulas, 'a,b', 'a "b"', 'two\nlines', 'two\r\nlines', ' x ', 'Zoë 🙂'];
  it.each(texts)('gives another reader the text %j as it is stored, and a spreadsheet no formula', async (text) => {
    const id = (await order({ customer_reference: text, metadata: { note: text } })).textAt('id');
    const answer = await caller.get(`/v1/orders.csv?customer_reference=${encodeURIComponent(text)}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    const [row] = readByPython(answer.text);
    const shown = formulas.includes(text) ? `'${text}` : text;
    expect(row).toMatchObject({ id, customer_reference: shown, metadata: JSON.stringify({ note: text }) });
  });

  it('has the fields of the list, an amount and its currency apart, and nothing for null', async () => {
    const price = { amount: '7.5', currency: 'EUR' };
    const answer = await order({ customer_price: price, max_price: { amount: '5', currency: 'EUR' } });
    const query = `external_order_id=${answer.textAt('external_order_id')}`;
    const listed = (await caller.get(`/v1/orders?${query}`)).at('data', 0) as Record<string, unknown>;
    const same = ['id', 'status', 'external_order_id', 'created_by', 'created_at', 'updated_at'];
    const empty = [
      'batch_id esim_id service_order_id charged_amount charged_currency customer_reference replaces replaced_by',
      'failure_class failure_detail failure_ended_by failure_service_message metadata completed_at',
    ].flatMap((names) => names.split(' '));
    const file = await caller.get(`/v1/orders.csv?${query}`);
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="orders.csv"');
    expect(readByPython(file.text)).toEqual([
      {
        ...Object.fromEntries(same.map((name) => [name, listed[name]])),
        package_id: '101',
        max_price_amount: '5.00',
        max_price_currency: 'EUR',
        customer_price_amount: '7.50',
        customer_price_currency: 'EUR',
        ...Object.fromEntries(empty.map((name) => [name, ''])),
      },
    ]);
  });

  it('of a failed order has what ended it, and the reason in the words of the service', async () => {
    const id = (await order({})).textAt('id');
    const reason = { failureClass: 'supplier_failed', failureEnd: 'attempts_used_up', serviceMessage: '=no' } as const;
    const failed = { status: 'failed', ...reason } as const;
    await api.database.run((db) => db.update(orders).set(failed).where(eq(orders.id, id)));
    const [row] = readByPython((await caller.get(`/v1/orders.csv?id=${id}`)).text);
    expect(row).toMatchObject({ failure_ended_by: 'attempts_used_up', failure_service_message: "'=no" });
  });

  it('has every order of its filter, over several reads, newest first, and none of another key', async () => {
    const mine = await api.caller(['orders:read', 'orders:write'], { ownWorkOnly: true });
    const first = (await order({}, mine)).textAt('created_by');
    const rows = Array.from({ length: 2 * EXPORTS.page + 3 }, (_, index) => ({
      id: newId('order'),
      apiKeyId: first,
      externalOrderId: `many-${randomUUID()}`,
      packageId: 102,
      // Many of the same time: the order is by time and id.
      createdAt: new Date(TEST_NOW - Math.floor(index / 7) * 1_000),
    }));
    await api.database.run((db) => db.insert(orders).values(rows));
    const found = readByPython((await mine.get('/v1/orders.csv?package_id=102')).text).map(({ id }) => id);
    const sorted = rows.toSorted((a, b) => +b.createdAt - +a.createdAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
    expect(found).toEqual(sorted);
    expect(readByPython((await mine.get('/v1/orders.csv?package_id=101')).text)).toHaveLength(1);
    await api.database.run((db) => db.delete(orders).where(eq(orders.packageId, 102)));
  });

  it('begins with a byte order mark for Excel, if asked for it', async () => {
    for (const path of ['orders', 'wallet/transactions', 'sales'].map((name) => `/v1/${name}.csv`)) {
      const days = path === '/v1/sales.csv' ? '&from_day=2030-01-01&to_day=2030-01-01' : '';
      const plain = await caller.get(`${path}?bom=false${days}`);
      const marked = await caller.get(`${path}?bom=true${days}`);
      expect([path, marked.text]).toEqual([path, `\uFEFF${plain.text}`]);
    }
  });

  it('that ends in an error, or is only asked for by HEAD, no longer counts', async () => {
    for (let count = 0; count < 2 * AT_ONCE.file; count += 1) {
      expect((await caller.call('HEAD', '/v1/orders.csv', {})).status).toBe(200);
      expect((await caller.get('/v1/sales.csv?from_day=2030-01-02&to_day=2030-01-01')).status).toBe(400);
    }
    const id = (await caller.get('/v1/key')).textAt('id');
    await waitFor('no file is open', async () => {
      const leave = Array.from({ length: AT_ONCE.file }, () => running.file.enter(id, { perSender: AT_ONCE.file }));
      for (const each of leave) each?.();
      return !leave.includes(undefined);
    });
  });
});

describe('a file of the journal', () => {
  it('has the rows of the journal with exact amounts', async () => {
    const amounts = ['0.000001', '123456789012345.123456', '2.40', '0'];
    const row = { direction: 'debit', currency: 'USD', causeKind: 'deposit' } as const;
    const rows = amounts.map((amount, index) => ({
      ...row,
      amount,
      causeId: `=d${index}`,
      recordedAt: new Date(TEST_NOW + index),
    }));
    await api.database.run((db) => db.insert(journal).values(rows));
    const found = readByPython((await caller.get('/v1/wallet/transactions.csv')).text);
    const shown = ['0.00', '2.40', '123456789012345.123456', '0.000001'];
    expect(found).toMatchObject(
      shown.map((amount, index) => ({ amount, currency: 'USD', cause_id: `'=d${3 - index}`, direction: 'debit' })),
    );
  });
});
