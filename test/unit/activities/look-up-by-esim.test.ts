import { describe, expect, it } from 'vitest';
import { resultsByEsim } from '#activities/evidence/look-up-result.ts';
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

/** Ids of what was found, by attempt. */
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
      facts: { outcome: 'completed', serviceId: item.id },
      record: item,
      event: 'topup.completed',
    }),
  });
  if (answer.kind !== 'read') throw new Error(answer.kind);
  return Object.fromEntries([...answer.results].map(([id, { facts }]) => [id, facts.serviceId]));
}

describe('an attempt in a list of what carries no reference of ours', () => {
  it('is found by the id of the service, however old and whatever the eSIM', () => {
    expect(
      found([attempt('a', 'e_1', 't_1')], [topup('t_1', null, SENT - 99 * HOUR), topup('t_2', 'e_1')], {
        complete: false,
      }),
    ).toEqual({ a: 't_1' });
    expect(found([attempt('a', 'e_1', 't_9')], [topup('t_1', 'e_1')])).toEqual({});
  });

  it('is found by its eSIM where one item alone may be it', () => {
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

  it('is not found where the list may go on with another item of its eSIM', () => {
    const list = [topup('t_1', 'e_1'), topup('t_2', 'e_2', SENT - HOUR / 2)];
    expect(found([attempt('a', 'e_1')], list, { complete: false })).toEqual({ a: 't_1' });
    expect(found([attempt('a', 'e_1')], list.slice(0, 1), { complete: false })).toEqual({});
    // Within what the clocks of the two sides may differ by it does not go back far enough.
    expect(
      found([attempt('a', 'e_1')], [topup('t_1', 'e_1'), topup('t_2', 'e_2', SENT - 60_000)], { complete: false }),
    ).toEqual({});
    expect(found([attempt('a', 'e_1')], [topup('t_1', 'e_1'), topup('t_2', 'e_2', null)], { complete: false })).toEqual(
      {},
    );
  });

  it('is not found beside an item that names no eSIM, unless that is known to be of another', () => {
    const list = [topup('t_1', 'e_1'), topup('t_2', null)];
    expect(found([attempt('a', 'e_1')], list)).toEqual({});
    expect(found([attempt('a', 'e_1')], list, { others: ['t_2'] })).toEqual({ a: 't_1' });
  });

  it('is not found in what another attempt may be as well', () => {
    expect(
      found(
        [attempt('a', 'e_1'), attempt('b', 'e_1'), attempt('c', 'e_2')],
        [topup('t_1', 'e_1'), topup('t_2', 'e_2')],
      ),
    ).toEqual({ c: 't_2' });
    expect(found([attempt('a', 'e_1', 't_1'), attempt('b', 'e_1')], [topup('t_1', 'e_1')])).toEqual({});
  });

  it('is found once in a list that shows an item on two pages', () => {
    expect(found([attempt('a', 'e_1')], [topup('t_1', 'e_1'), topup('t_1', 'e_1')])).toEqual({ a: 't_1' });
  });
});
