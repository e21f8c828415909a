import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { addApiKey } from '#db/access/api-keys.ts';
import { apiKeys, events, gateReservations, timeline } from '#db/schema.ts';
import { readGate } from '#fulfilment/gate/overview.ts';
import { shownGauges } from '#test/support/shown-gauges.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { gateSteps, withBalance } from '#test/support/work/gate-steps.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const { send, sends, later, look, begin } = gateSteps(() => bench);

describe('the wallet balance', () => {
  it('is reserved once per order by ten concurrent orders, and the rest is held without a call', async () => {
    bench = await withBalance(bench, 4 * 2.4 + 1);
    await bench.admin.nextPurchases({ outcome: 'stay_processing', count: 20 });
    const outcomes = await Promise.all((await begin(10)).map(send));
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(4);
    const held = outcomes.filter((outcome) => outcome.kind === 'gated');
    expect(held).toHaveLength(6);
    const detail = expect.stringContaining('The price is 2.40 USD');
    expect(held[0]).toMatchObject({ failure: 'insufficient_balance', detail });
    expect(await sends()).toBe(4);
  });

  it('counts a debit exactly once after the next reading', async () => {
    bench = await withBalance(bench, 2 * 2.4);
    const [first, second, third] = await begin(3);
    expect(await send(first!)).toMatchObject({ kind: 'accepted' });
    await bench.activities.completePurchase({ ...first!, applied: [] });
    // The reading precedes the debit, so the money is still reserved.
    const wallet = async () => (await bench.database.run((db) => readGate(db, undefined, bench.clock.now))).wallet;
    expect(await wallet()).toMatchObject({ balance: { amount: '4.800000' }, reserved: { amount: '2.400000' } });
    // A new reading contains the debit, so it is not subtracted again.
    later(bench.gate.debitShowsAfterMs + bench.gate.balanceAgeMs);
    expect(await send(second!)).toMatchObject({ kind: 'accepted' });
    expect(await wallet()).toMatchObject({ balance: { amount: '2.400000' }, reserved: { amount: '2.400000' } });
    expect(await send(third!)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await sends()).toBe(2);
  });

  it('is released to other orders when the service refuses the purchase', async () => {
    bench = await withBalance(bench, 2.4);
    await bench.admin.onRequest('createOrder', { kind: 'rate_limited', retry_after: 1 });
    const [first, second] = await begin(2);
    expect(await send(first!)).toMatchObject({ kind: 'failure', failure: 'rate_limited' });
    expect(await send(second!)).toMatchObject({ kind: 'accepted' });
  });

  it('stays reserved while the outcome of a purchase is unknown, and a resend reserves nothing more', async () => {
    bench = await withBalance(bench, 2.4);
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const [first, second] = await begin(2);
    expect(await send(first!)).toMatchObject({ kind: 'failure' });
    expect(await send(second!)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await send(first!)).toMatchObject({ kind: 'accepted' });
    expect(await bench.database.run((db) => db.select().from(gateReservations))).toHaveLength(1);
  });

  it('releases the oldest orders that a deposit covers, before their timers', async () => {
    bench = await withBalance(bench, 0);
    const refs = await begin(3);
    for (const ref of refs) expect(await send(ref)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await look()).toEqual([]);
    await bench.admin.deposit('5.00');
    later(bench.gate.balanceAgeMs + 1);
    await bench.wallet.refresh();
    bench.gate.releasesPerSecond = 50;
    expect(await look()).toEqual([refs[0]!.work.id]);
    later(1_000);
    expect(await send(refs[0]!)).toMatchObject({ kind: 'accepted' });
    expect(await look()).toEqual([refs[1]!.work.id]);
    expect(await sends()).toBe(1);
  });

  it('blocks no purchase when it is unreadable, and the timeline records the missing reservation', async () => {
    await bench.admin.onRequest('getWallet', { kind: 'server_error' }, { count: null });
    const [ref] = await begin(1);
    expect(await send(ref!)).toMatchObject({ kind: 'accepted' });
    const entries = await bench.database.run((db) =>
      db.select().from(timeline).where(eq(timeline.event, 'attempt.accepted')),
    );
    expect(entries[0]?.detail).toMatchObject({ reservation: 'balance_unknown' });
  });

  it('below a threshold is announced once, and so is its recovery', async () => {
    bench = await withBalance(bench, 9);
    bench.gate.lowBalance = { amount: '10.00', currency: 'USD' };
    await bench.wallet.refresh();
    await bench.wallet.refresh();
    await bench.admin.deposit('50.00');
    await bench.wallet.refresh();
    expect(bench.crossings).toEqual(['low', 'well']);
    const announced = await bench.database.run((db) =>
      db.select().from(events).where(eq(events.subjectKind, 'wallet')).orderBy(events.sequence),
    );
    expect(announced).toMatchObject([
      {
        type: 'wallet.balance_low',
        apiKeyId: null,
        data: { balance: { amount: '9.00', currency: 'USD' }, threshold: { amount: '10.00', currency: 'USD' } },
      },
      { type: 'wallet.balance_restored', apiKeyId: null, data: { balance: { amount: '59.00', currency: 'USD' } } },
    ]);
  });
});

describe('the alert of a low balance', () => {
  /** The gauge that makes the alert, and whether purchases are compared with the balance. */
  const shown = async () => {
    const body = await shownGauges(bench.database, bench.clock.now);
    return [body.includes('reseller_wallet_low 1\n'), body.includes('reseller_wallet_available{')];
  };

  it('stays while the wallet cannot be read, and ends when the balance is seen above the threshold', async () => {
    bench = await withBalance(bench, 9);
    bench.gate.lowBalance = { amount: '10.00', currency: 'USD' };
    expect(await shown()).toEqual([false, false]);
    await bench.wallet.refresh();
    expect(await shown()).toEqual([true, true]);

    await bench.admin.onRequest('getWallet', { kind: 'server_error' });
    later(bench.gate.balanceAgeMs + 1);
    expect(await bench.wallet.refresh()).toBe(false);
    expect(await shown()).toEqual([true, false]);

    await bench.admin.deposit('50.00');
    await bench.wallet.refresh();
    expect(await shown()).toEqual([false, true]);
  });
});

describe('a daily spend limit', () => {
  /** Adds an API key with a limit of 1.00 USD. @returns its id. */
  const limited = (name: string) => {
    const key = { name, prefix: name, hash: Buffer.from(name.padEnd(32, '.')), scopes: [] };
    return bench.database.run((db) => addApiKey(db, { ...key, spendLimit: { amount: '1.00', currency: 'USD' } }));
  };
  const raise = (id: string) =>
    bench.database.run((db) => db.update(apiKeys).set({ spendLimitAmount: '3.00' }).where(eq(apiKeys.id, id)));

  it('of all keys holds further orders until the next day', async () => {
    bench.gate.spendLimit = { amount: '5.00', currency: 'USD' };
    const refs = await begin(3);
    const outcomes = await Promise.all(refs.map(send));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'accepted', 'gated']);
    const held = outcomes.findIndex(({ kind }) => kind === 'gated');
    const detail = expect.stringContaining('4.80 USD are spent');
    expect(outcomes[held]).toMatchObject({ failure: 'spend_limit_reached', detail });
    expect(await look()).toEqual([]);
    later(24 * 3_600_000);
    expect(await look()).toEqual([refs[held]!.work.id]);
    expect(await send(refs[held]!)).toMatchObject({ kind: 'accepted' });
    expect(await sends()).toBe(3);
  });

  it('of an API key holds only the work of that key, and releases it when the limit is raised', async () => {
    const id = await limited('shop');
    const [other, own] = [await bench.begin(), await bench.begin(1001, id)];
    expect(await send(other)).toMatchObject({ kind: 'accepted' });
    const detail = expect.stringContaining('of this API key');
    expect(await send(own)).toMatchObject({ kind: 'gated', failure: 'spend_limit_reached', detail });
    await raise(id);
    expect(await look()).toEqual([own.work.id]);
    expect(await send(own)).toMatchObject({ kind: 'accepted' });
  });

  it('that is used up for one key hides no work of another key, however much of it waits', async () => {
    const [full, raised] = [await limited('full'), await limited('raised')];
    // Older than the other one, and more than a run examines of a queue.
    await bench.database.run((db) =>
      db.execute(sql`insert into gate_waits
        (subject_kind, subject_id, barrier, failure_class, accepted_at, since, api_key_id, price_amount, price_currency)
        select 'order', 'ord_' || n, 'spend_limit', 'spend_limit_reached', '2020-01-01', '2020-01-01', ${full},
          2.4, 'USD'
        from generate_series(1, 1000) n`),
    );
    const held = await bench.begin(1001, raised);
    expect(await send(held)).toMatchObject({ kind: 'gated', failure: 'spend_limit_reached' });
    expect(await look()).toEqual([]);
    await raise(raised);
    expect(await look()).toEqual([held.work.id]);
  });
});
