import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { actOnSeveral, limitWork, resolveCase, type WorkDesk } from '#cli/operator/work.ts';
import { pageOf, reason, row, WorkApi, type Answer } from '#test/support/work/work-commands.ts';

let api: WorkApi;
beforeEach(async () => void (api = await WorkApi.start()));
afterEach(() => api.stop());

const line = (id: string, result: string, more: Record<string, unknown> = {}) => ({
  id,
  status: 'held',
  failure_class: 'insufficient_balance',
  attention: null,
  result,
  refusal: null,
  detail: null,
  ...more,
});
const bulk = (...data: unknown[]): Answer => ({
  status: 200,
  body: { dry_run: false, matched: data.length, remaining: 0, data },
});

describe('a bulk action', () => {
  it('is one call, prints the result of each item, and exits with 1 when any was refused', async () => {
    api.answer = () =>
      bulk(
        line('ord_unknown', 'not_found', { status: null }),
        line('ord_ended', 'refused', { detail: 'It has ended.' }),
        line('ord_held', 'applied'),
        line('ord_done', 'unchanged'),
      );
    const ids = ['ord_unknown', 'ord_ended', 'ord_held', 'ord_done'];
    const { printed, code } = await api.run((desk, options) =>
      actOnSeveral(desk, { action: 'retry' }, ids, { ...options, reason }),
    );
    expect(printed.split('\n')).toEqual([
      'ord_unknown  refused: no work has this id',
      'ord_ended  refused: It has ended.',
      'ord_held  is tried again now  (status at that moment: held)',
      'ord_done  unchanged: already done  (status at that moment: held)',
      '2 of 4 orders done.',
      '',
    ]);
    expect(code).toBe(1);
    expect(api.calls).toMatchObject([
      { call: 'POST /v1/orders/bulk-actions', body: { action: 'retry', filter: { ids }, reason, dry_run: false } },
    ]);
  });

  it('as a dry run changes nothing, and lists all items that match the filter', async () => {
    api.answer = (method) => (method === 'GET' ? pageOf(row('ord_held')) : bulk(line('ord_held', 'would_apply')));
    const chosen = { reason, failureClass: 'insufficient_balance', dryRun: true };
    const { printed, code } = await api.run((desk, options) =>
      actOnSeveral(desk, { action: 'abandon' }, [], { ...options, ...chosen }),
    );
    expect(printed).toBe('would abandon: ord_held  held  (insufficient_balance)\n1 order. Nothing was changed.\n');
    expect(code).toBe(0);
    expect(api.calls).toMatchObject([
      { call: expect.stringContaining('failure_class=insufficient_balance') },
      { body: { action: 'abandon', filter: { ids: ['ord_held'] }, dry_run: true } },
    ]);
  });
});

it('an action on one order prints the status of its moment, not a later one', async () => {
  api.answer = () => ({ status: 200, body: row('ord_1', { status: 'needs_attention' }) });
  const { printed, code } = await api.run((desk, to) => limitWork(desk, 'ord_1', '12.50 USD', { ...to, reason }));
  expect(printed).toBe('ord_1  limit changed  (status at that moment: needs_attention)\n');
  expect(code).toBe(0);
  const body = { reason, max_price: { amount: '12.50', currency: 'USD' } };
  expect(api.calls).toMatchObject([{ call: 'PATCH /v1/orders/ord_1/limit', body }]);
});

describe('a limit or a verdict for all matching orders', () => {
  it('first reads the orders that match the filter', async () => {
    api.answer = (method) =>
      method === 'GET' ? pageOf(row('ord_1')) : bulk(line('ord_1', 'would_apply', { failure_class: null }));
    const { printed, code } = await api.run((desk, options) =>
      limitWork(desk, 'all', 'none', { ...options, reason, status: 'held', dryRun: true }),
    );
    expect([printed, code]).toEqual(['would limit: ord_1  held\n1 order. Nothing was changed.\n', 0]);
    const verdict = { case: 'outcome_unknown', verdict: 'not_bought', next: 'abandon' };
    const chosen = { reason, ...verdict, attention: 'outcome_unknown', dryRun: true, serviceIds: {} };
    await api.run((desk, options) => resolveCase(desk, 'all', { ...options, ...chosen }));
    expect(api.calls).toMatchObject([
      { call: expect.stringContaining('status=held') },
      {
        call: 'POST /v1/orders/bulk-actions',
        body: { action: 'limit', max_price: null, reason, filter: { ids: ['ord_1'] }, dry_run: true },
      },
      { call: expect.stringContaining('attention=outcome_unknown') },
      {
        call: 'POST /v1/orders/bulk-actions',
        body: { action: 'resolve', ...verdict, reason, filter: { ids: ['ord_1'] }, dry_run: true },
      },
    ]);
  });

  const ofService = { case: 'outcome_unknown', verdict: 'bought', serviceIds: { service_order_id: '1' } };
  it.each<[string, (desk: WorkDesk, to: { api: string; data: string; reason: string }) => Promise<number>, string]>([
    ['no filter', (desk, to) => limitWork(desk, 'all', 'none', to), 'No orders are selected.'],
    [
      'an id beside a filter',
      (desk, to) => limitWork(desk, 'ord_1', 'none', { ...to, status: 'held' }),
      'An id is given together with a filter',
    ],
    [
      'an id at the service',
      (desk, to) => resolveCase(desk, 'all', { ...to, ...ofService, status: 'held' }),
      'Give it with the id of one order',
    ],
  ])('is refused with %s', async (_name, command, words) => {
    expect(await api.run((desk, to) => command(desk, { ...to, reason }))).toEqual({
      code: 1,
      printed: expect.stringContaining(words),
    });
    expect(api.calls).toEqual([]);
  });
});
