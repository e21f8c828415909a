import { describe, expect, it } from 'vitest';
import { resultsByEsim } from '#fulfilment/purchase/listing.ts';
import type { ServiceTopup } from '#upstream/contract.ts';

const HOUR = 3_600_000;
const SENT = Date.UTC(2025, 5, 2, 12);

const attempt = (id: string, serviceEsimId: string | null, serviceId: string | null = null) => ({
  id,
  serviceId,
  serviceEsimId,
  firstSentAt: new Date(SENT),
  createdAt: new Date(SENT),
});
const topup = (id: string, esimId: string | null, at: number | null = SENT): ServiceTopup => ({
  id,
  esim_id: esimId,
  status: 'completed',
  created_at: at === null ? null : new Date(at).toISOString(),
});

/** The ids of the found items, by attempt. */
function found(
  attempts: readonly ReturnType<typeof attempt>[],
  items: readonly ServiceTopup[],
  { complete = true, others = [] as readonly string[] } = {},
): Record<string, string | undefined> {
  const answer = resultsByEsim({ ok: true, status: 200, value: { items, complete } }, attempts, {
    noun: 'top-ups',
    mayBe: (_attempt, { id }) => !others.includes(id),
    found: (item) => ({
      kind: 'found',
      report: { outcome: 'completed', serviceId: item.id },
      record: item,
      event: 'topup.completed',
    }),
  });
  if (answer.kind !== 'read') throw new Error(answer.kind);
  return Object.fromEntries([...answer.results].map(([id, { report }]) => [id, report.serviceId]));
}

describe('an attempt in a list without our references', () => {
  it('is found by the id of the service, of any age and eSIM', () => {
    expect(
      found([attempt('a', 'e_1', 't_1')], [topup('t_1', null, SENT - 99 * HOUR), topup('t_2', 'e_1')], {
        complete: false,
      }),
    ).toEqual({ a: 't_1' });
    expect(found([attempt('a', 'e_1', 't_9')], [topup('t_1', 'e_1')])).toEqual({});
  });

  it('is found by its eSIM when exactly one item can match', () => {
    const both = [attempt('a', 'e_1'), attempt('b', 'e_2')];
    expect(found(both, [topup('t_2', 'e_2'), topup('t_1', 'e_1'), topup('t_3', 'e_3')])).toEqual({
      a: 't_1',
      b: 't_2',
    });
    expect(found(both, [topup('t_2', 'e_2'), topup('t_1', 'e_1'), topup('t_1b', 'e_1')])).toEqual({ b: 't_2' });
    expect(found(both, [topup('t_2', 'e_2'), topup('t_1', 'e_1'), topup('t_1b', 'e_1')], { others: ['t_1'] })).toEqual({
      a: 't_1b',
      b: 't_2',
    });
    expect(found([attempt('a', null)], [topup('t_1', 'e_1')])).toEqual({});
  });

  it('is not found when the rest of the list may contain another item of its eSIM', () => {
    const list = [topup('t_1', 'e_1'), topup('t_2', 'e_2', SENT - HOUR / 2)];
    expect(found([attempt('a', 'e_1')], list, { complete: false })).toEqual({ a: 't_1' });
    expect(found([attempt('a', 'e_1')], list.slice(0, 1), { complete: false })).toEqual({});
    // Within the possible difference of the two clocks, the list does not go back far enough.
    expect(
      found([attempt('a', 'e_1')], [topup('t_1', 'e_1'), topup('t_2', 'e_2', SENT - 60_000)], { complete: false }),
    ).toEqual({});
    expect(found([attempt('a', 'e_1')], [topup('t_1', 'e_1'), topup('t_2', 'e_2', null)], { complete: false })).toEqual(
      {},
    );
  });

  it('is not found beside an item without eSIM, unless that belongs to another attempt', () => {
    const list = [topup('t_1', 'e_1'), topup('t_2', null)];
    expect(found([attempt('a', 'e_1')], list)).toEqual({});
    expect(found([attempt('a', 'e_1')], list, { others: ['t_2'] })).toEqual({ a: 't_1' });
  });

  it('is not found by an item that another attempt may match as well', () => {
    expect(
      found(
        [attempt('a', 'e_1'), attempt('b', 'e_1'), attempt('c', 'e_2')],
        [topup('t_1', 'e_1'), topup('t_2', 'e_2')],
      ),
    ).toEqual({ c: 't_2' });
    expect(found([attempt('a', 'e_1', 't_1'), attempt('b', 'e_1')], [topup('t_1', 'e_1')])).toEqual({});
  });

  it('is found once when the list contains an item on two pages', () => {
    expect(found([attempt('a', 'e_1')], [topup('t_1', 'e_1'), topup('t_1', 'e_1')])).toEqual({ a: 't_1' });
  });
});
