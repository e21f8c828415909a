import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';

// Without a grace period. The schedule never runs, so only the command compares the books.
const stack = disposedAtEnd(
  await startStack({ environment: { ...RARE_UPKEEP, 'books.grace': '0s', 'books.every': '365d' } }),
);

async function reconcile(args: readonly string[] = []) {
  const environment = Object.fromEntries(
    Object.entries({ ...stack.environments.worker }).map(([name, value]) => [name, value ?? '']),
  );
  const program = { script: 'cli/main.ts', args: ['reconcile', ...args] };
  await using command = await startProcess({ name: 'reconcile', ...program, environment });
  const { code } = await command.exit();
  return { code, output: command.output() };
}

const page = z.object({
  data: z.array(
    z.looseObject({
      id: z.string(),
      direction: z.string(),
      amount: z.object({ amount: z.string(), currency: z.string() }),
      cause: z.object({ kind: z.string(), id: z.string() }).nullable(),
      subject_id: z.string().nullable(),
      service: z.looseObject({ external_order_id: z.string().nullable() }).nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
});
const transactions = async (query = '') => (await stack.api.get(`/v1/wallet/transactions${query}`)).read(page);

describe('`reseller reconcile`', () => {
  it('makes the worker compare the books, prints the report, and the API returns the same', async () => {
    const orderId = (await stack.order({ package_id: 1001 })).textAt('id');
    await stack.orderReaches(orderId, ['completed']);
    const { code, output } = await reconcile();
    expect(output).toContain('Our books were compared with the wallet at the service.');
    expect(output).toContain('Nothing was found.');
    expect(code).toBe(0);

    const { data } = await transactions();
    const debit = data.find(({ direction }) => direction === 'debit');
    expect(debit).toMatchObject({ amount: { amount: '2.40' }, cause: { kind: 'attempt' }, subject_id: orderId });
    expect(debit?.service).not.toBeNull();
    const kinds = data.map(({ cause }) => String(cause?.kind)).toSorted();
    expect(kinds).toEqual(['adjustment', 'attempt', 'deposit']);
  });

  it('reports a movement without a cause until an operator explains it', async () => {
    const admin = new SimulatorAdmin(stack.simulator);
    await admin.move({ type: 'debit', amount: '7.10', reason: 'fee' });
    const { code, output } = await reconcile(['--json']);
    expect(code).toBe(1);
    const report = z.looseObject({ id: z.string(), findings: z.array(z.unknown()) }).parse(JSON.parse(output));
    expect(report.findings).toMatchObject([{ kind: 'unnamed_movement', amount: { amount: '7.10', currency: 'USD' } }]);
    expect((await stack.api.get(`/v1/wallet/reconciliations/${report.id}`)).body).toEqual(report);

    const [orphan] = (await transactions('?cause=none')).data;
    expect(orphan).toMatchObject({ direction: 'debit', amount: { amount: '7.10' }, cause: null });
    const explain = (id: string) =>
      stack.api.post(`/v1/wallet/transactions/${id}/explain`, { reason: 'The fee of the month.' });
    for (let time = 0; time < 2; time += 1) expect((await explain(orphan!.id)).status).toBe(200);
    for (const id of ['mov_99999', 'jrn_1'])
      expect((await explain(id)).textAt('code')).toBe('wallet_transaction_not_found');
    expect((await reconcile()).code).toBe(0);
    expect((await transactions('?cause=none')).data).toEqual([]);
    const adjustments = (await transactions('?cause=adjustment&direction=debit')).data;
    expect(adjustments).toMatchObject([{ amount: { amount: '7.10' }, service: { reason: 'fee' } }]);
  });

  it('is paged in the API, with movements of both sides in one order', async () => {
    const all = (await transactions()).data.map(({ id }) => id);
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const part: z.output<typeof page> = await transactions(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...part.data.map(({ id }) => id));
      cursor = part.next_cursor;
    }
    expect(found).toEqual(all);
  });

  it('names what the service has taken for no purchase, although the books are equal', async () => {
    await new SimulatorAdmin(stack.simulator).move({ type: 'debit', amount: '1000.50', reason: 'correction' });
    const { output } = await reconcile();
    expect(output).toMatch(/Adjustments in the last 24 hours: \d debits?, \d+\.\d+ USD\. See `npx reseller wallet tr/);
    const adjusted = (await transactions('?cause=adjustment')).data.filter(({ direction }) => direction === 'debit');
    expect(adjusted.map(({ amount }) => amount.amount)).toContain('1000.50');
  });

  it('names the solution when no worker runs', async () => {
    await stack.process('worker').stop();
    const { code, output } = await reconcile(['--wait', '1s']);
    expect(code).toBe(1);
    expect(output).toContain('No worker has compared the books within 1 s.');
  });
});
