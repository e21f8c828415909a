import { asc, eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { gateWaits, outbox } from '#db/schema.ts';
import { releasePause } from '#fulfilment/gate/pauses.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';
import { gateSteps, NOT_APPROVED, withBalance } from '#test/support/work/gate-steps.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const { send, sends, look, circuit, begin, pause, operate } = gateSteps(() => bench);

it('the release of held work reads some of each queue, however long it is', async () => {
  const plan = await bench.database.transaction(async (tx) => {
    for (const each of ['seqscan', 'sort', 'bitmapscan']) await tx.execute(`set local enable_${each} = off`);
    const queue = tx
      .select()
      .from(gateWaits)
      .where(eq(gateWaits.barrier, 'wallet'))
      .orderBy(asc(gateWaits.acceptedAt), asc(gateWaits.subjectId));
    return JSON.stringify((await tx.execute(sql`explain ${queue.getSQL()}`)).rows);
  });
  expect(plan).toContain(' using gate_waits_oldest ');
});

describe('a pause', () => {
  it('by failure class holds only work stopped by that class, and exists once', async () => {
    const failureClass = 'package_unavailable';
    expect(await pause({ failureClass })).toBe(await pause({ failureClass }));
    await bench.admin.setPackage(1001, { available: false });
    const [ref] = await begin(1);
    expect(await send(ref!)).toMatchObject({ kind: 'failure', failure: 'package_unavailable' });
    await bench.admin.setPackage(1001, { available: true });
    expect(await send(ref!)).toMatchObject({ kind: 'gated', failure: 'purchases_paused' });
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'accepted' });
  });

  it.each(['supplier_failed', 'insufficient_balance', 'esim_busy'] as const)(
    'by the class %s holds work that was last held for it, although its attempt did not fail with it',
    async (failureClass) => {
      await pause({ failureClass });
      const [ref] = await begin(1);
      const failure = { class: failureClass, detail: 'A test.' };
      await bench.activities.recordStep(step(ref!.work, { failure }));
      const gated = { kind: 'gated', failure: 'purchases_paused' };
      expect([await send(ref!), await send(ref!)]).toMatchObject([gated, gated]);
      expect(await bench.database.run((db) => db.select().from(gateWaits))).toMatchObject([{ failureClass }]);
    },
  );

  it('of one kind does not affect other kinds', async () => {
    await pause({ kind: 'order' });
    expect(await send(await bench.beginSubscription())).toMatchObject({ kind: 'accepted' });
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'gated' });
  });

  it('is passed once by work that an operator releases, and a second release changes nothing', async () => {
    await pause();
    const [ref] = await begin(1);
    await send(ref!);
    await bench.hold(ref!);
    const release = (actionId: string) => operate(ref!, 'release', actionId);
    const outcomes = [{ kind: 'applied' }, { kind: 'unchanged' }, { kind: 'unchanged' }];
    expect([await release('1'), await release('1'), await release('2')]).toEqual(outcomes);
    expect(await send(ref!)).toMatchObject({ kind: 'accepted' });
    expect(await release('3')).toMatchObject({ kind: 'refused', refusal: 'not_held' });
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'gated' });
  });
});

describe('a release by an operator', () => {
  it('does not bypass the wallet check', async () => {
    bench = await withBalance(bench, 1);
    const [ref] = await begin(1);
    await send(ref!);
    await bench.hold(ref!);
    await operate(ref!, 'release');
    expect(await send(ref!)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await sends()).toBe(0);
  });

  it('at an open circuit makes the work the canary', async () => {
    await bench.admin.onRequest('createOrder', NOT_APPROVED);
    const [first, second] = await begin(2);
    await send(first!);
    await send(second!);
    await bench.hold(second!);
    await operate(second!, 'release');
    expect(await send(second!)).toMatchObject({ kind: 'accepted' });
    expect(await circuit('not_approved')).toBe('releasing');
    expect(await look()).toEqual([first!.work.id]);
  });
});

it('released work is woken by the outbox, so the death of a process does not lose the wake', async () => {
  const id = await pause();
  const [ref] = await begin(1);
  await send(ref!);
  await bench.database.transaction((tx) =>
    releasePause(tx, id, { actor: 'key_ada', reason: 'Done.' }, new Date(bench.clock.now)),
  );
  await look();
  const rows = await bench.database.run((db) =>
    db.select().from(outbox).where(eq(outbox.topic, 'wake_work')).orderBy(asc(outbox.id)),
  );
  expect(rows.map(({ subjectId }) => subjectId)).toEqual([ref!.work.id]);
});
