/** Each condition of the filter of bulk actions, with a dry run. A new condition without a row here fails. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { apiOfFile, changeOrder } from '#test/integration/api/support.ts';
import { BETWEEN, IDS, writeListedRows } from '#test/support/work/listed-rows.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';

const { api, caller: operator } = await apiOfFile();
await writeListedRows(api);

/** By condition, a value that only A has and one that only B has. */
const CONDITIONS: Readonly<Record<string, readonly [unknown, unknown]>> = {
  ids: [[IDS.order.A], [IDS.order.B]],
  status: ['held', 'needs_attention'],
  failure_class: ['timeout', 'not_sent'],
  attention: ['outcome_unknown', 'contradiction'],
  created_by: [IDS.key.A, IDS.key.B],
  created_after: [BETWEEN.made, undefined],
  created_before: [undefined, BETWEEN.made],
};

const answer = z.object({ matched: z.number(), remaining: z.number(), data: z.array(z.object({ id: z.string() })) });

async function chosen(filter: object) {
  const body = { action: 'abandon', filter, reason: 'A trial.', dry_run: true };
  return (await operator.post('/v1/orders/bulk-actions', body)).read(answer);
}

describe('a bulk action', () => {
  it('has each condition of its filter in the table of this test', () => {
    const { body } = api.operations.find(({ id }) => id === 'actOnManyOrders') ?? {};
    const filter = z.instanceof(z.ZodObject).parse(body?.shape['filter']);
    expect(Object.keys(filter.shape).toSorted()).toEqual(Object.keys(CONDITIONS).toSorted());
  });

  it.each(Object.entries(CONDITIONS))('is filtered by %s', async (name, values) => {
    for (const [place, value] of values.entries()) {
      const id = [IDS.order.A, IDS.order.B][place];
      if (value === undefined) continue;
      expect([value, await chosen({ [name]: value })]).toEqual([value, { matched: 1, remaining: 0, data: [{ id }] }]);
    }
  });

  it('finds open work behind a hundred ended items', async () => {
    const key = IDS.key.A;
    const ended = { apiKeyId: key, status: 'failed', createdAt: new Date(0) } as const;
    for (let n = 0; n < 101; n += 1) await changeOrder(api, await acceptTestOrder(api.database), ended);
    expect(await chosen({ created_by: key })).toEqual({ matched: 1, remaining: 0, data: [{ id: IDS.order.A }] });
    // A filter with a final status finds ended work.
    expect(await chosen({ created_by: key, status: 'failed' })).toMatchObject({ matched: 101, remaining: 1 });
  });
});
