import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { recordMovement } from '#db/money/journal.ts';
import { attempts, journal } from '#db/schema.ts';
import { findAttemptById, limitOf, findSilentAttempts, markLookedUp, type SilencePolicy } from '#db/work/attempts.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { recordSendFailure } from '#fulfilment/purchase/answer.ts';
import { openAttempt } from '#fulfilment/purchase/begin.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { holdDatabaseClock } from '#test/support/servers/database-clock.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import {
  acceptTestOrder,
  claimOf,
  claimTestSend,
  openTestAttempt,
  orderWork,
  storeTestReport,
} from '#test/support/work/order-rows.ts';

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
const NOW = new Date('2030-01-31T12:00:00Z');
const clock = await holdDatabaseClock(opened, NOW);

const later = (ms: number) => new Date(NOW.getTime() + ms);
const newAttempt = async () => openTestAttempt(database, await acceptTestOrder(database));
/** @param now the time of the database clock. */
const claim = async (id: string, now: Date, more: Parameters<typeof claimOf>[2] = {}) => {
  await clock.set(now);
  return claimOf(database, id, more);
};
const claimToken = async (id: string, now: Date) => {
  await clock.set(now);
  return claimTestSend(database, id);
};
const failSend = (id: string, token: string, failure: 'timeout' | 'insufficient_balance' | 'key_or_reference_used') =>
  database.transaction((tx) => recordSendFailure(tx, id, token, { class: failure, detail: 'It failed.' }));
const read = (id: string) => database.run((db) => findAttemptById(db, id));
const entries = (id: string) => database.run((db) => db.select().from(journal).where(eq(journal.causeId, id)));

describe('an attempt', () => {
  it('keeps its key and bytes when it is opened again', async () => {
    const orderId = await acceptTestOrder(database);
    const first = await openTestAttempt(database, orderId, { reference: 'ref-first' });
    const again = await database.transaction((tx) =>
      openAttempt(tx, {
        work: orderWork(orderId),
        number: 1,
        idempotencyKey: 'another',
        reference: 'ref-other',
        encryptedBody: () => Buffer.from('other bytes'),
      }),
    );
    expect(again).toEqual(first);
  });

  it('has a unique key and reference', async () => {
    const { idempotencyKey, reference } = await newAttempt();
    const [other, orderId] = [await newAttempt(), await acceptTestOrder(database)];
    await expect(openTestAttempt(database, orderId, { reference })).rejects.toThrow('attempts');
    expect(other.idempotencyKey).not.toBe(idempotencyKey);
    await expect(
      database.run((db) => db.update(attempts).set({ idempotencyKey }).where(eq(attempts.id, other.id))),
    ).rejects.toThrow('attempts');
  });
});

describe('the permission to send', () => {
  it('is given to exactly one of many concurrent requests', async () => {
    const { id } = await newAttempt();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(id, NOW)));
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(claims.filter(({ kind }) => kind === 'leased')).toHaveLength(19);
    expect(await read(id)).toMatchObject({ sends: 1, state: 'sending' });
  });

  it('ends with the lease, and a send without result then counts as unknown', async () => {
    const { id } = await newAttempt();
    await claim(id, NOW);
    expect(await claim(id, later(29_999))).toEqual({ kind: 'leased' });
    const second = await claim(id, later(30_000));
    expect(second).toMatchObject({ kind: 'claimed', attempt: { sends: 2, anyUnknown: true, firstSentAt: NOW } });
  });

  it('has a resend window that starts at the first send without a refusal', async () => {
    const within = (id: string, now: Date) => claim(id, now, { leaseMs: 1_000, resendWindowMs: 60_000 });
    const { id } = await newAttempt();
    await failSend(id, await claimToken(id, NOW), 'insufficient_balance');
    expect(await read(id)).toMatchObject({ firstSentAt: NOW, firstUnrefusedSendAt: null });
    // Held for an hour. Then the answer is lost.
    await failSend(id, await claimToken(id, later(3_600_000)), 'timeout');
    expect(await read(id)).toMatchObject({ firstSentAt: NOW, firstUnrefusedSendAt: later(3_600_000) });
    // A later refusal proves nothing, and does not extend the window.
    await failSend(id, await claimToken(id, later(3_630_000)), 'insufficient_balance');
    expect(await within(id, later(3_660_000))).toMatchObject({ kind: 'claimed' });
    expect(await within(id, later(3_661_001))).toEqual({ kind: 'too_late' });
  });

  it('stores the highest price limit of all sends that may have bought', async () => {
    const usd = (amount: string) => ({ amount, currency: 'USD' });
    const under = async (id: string, now: Date, limit: { amount: string; currency: string } | null | undefined) => {
      const claimed = await claim(id, now, { leaseMs: 1_000, limit });
      if (claimed.kind !== 'claimed') throw new Error(`the attempt is ${claimed.kind}`);
      const kept = limitOf(await read(id));
      return { token: claimed.leaseToken, most: kept === null ? null : Number(kept.amount) };
    };
    const { id } = await newAttempt();
    const refused = await under(id, NOW, usd('9.00'));
    await failSend(id, refused.token, 'insufficient_balance');
    expect((await under(id, later(2_000), usd('5.00'))).most, 'the first send cost nothing').toBe(5);
    expect((await under(id, later(4_000), usd('3.00'))).most, 'the send before it may have bought').toBe(5);
    expect((await under(id, later(6_000), usd('7.00'))).most).toBe(7);
    expect((await under(id, later(8_000), undefined)).most, 'it is not sent this time').toBe(7);
    expect((await under(id, later(10_000), null)).most, 'anything was allowed').toBeNull();
    expect((await under(id, later(12_000), usd('1.00'))).most).toBeNull();
  });
});

describe('the result of a send', () => {
  it('proves nothing with a refusal after an unknown send', async () => {
    const { id } = await newAttempt();
    await failSend(id, await claimToken(id, NOW), 'timeout');
    const row = await failSend(id, await claimToken(id, later(1_000)), 'insufficient_balance');
    expect(row).toMatchObject({ state: 'unknown', anyUnknown: true });
  });

  it('changes nothing after a later send has taken the lease', async () => {
    const { id } = await newAttempt();
    const old = await claimToken(id, NOW);
    await claimToken(id, later(60_000));
    const row = await failSend(id, old, 'insufficient_balance');
    expect(row).toMatchObject({ state: 'sending', failureClass: null });
  });
});

describe('a report of the service', () => {
  it('books the debit once, for any number of reports', async () => {
    const { id } = await newAttempt();
    const charged = { amount: '4.875', currency: 'USD' };
    for (const outcome of ['processing', 'completed', 'completed'] as const) {
      await storeTestReport(database, id, { outcome, serviceId: 'so-4', charged });
    }
    expect(await entries(id)).toMatchObject([{ direction: 'debit', amount: '4.875000', currency: 'USD' }]);
  });

  it('of a failure books no debit, because only the wallet shows it', async () => {
    const { id } = await newAttempt();
    const failure = { outcome: 'failed', serviceId: 'so-5', charged: { amount: '1', currency: 'USD' } } as const;
    await storeTestReport(database, id, failure);
    expect(await entries(id)).toEqual([]);
  });

  it('is stored for one attempt only, so two attempts never have one order of the service', async () => {
    const [left, right] = [await newAttempt(), await newAttempt()];
    const report = { outcome: 'processing', serviceId: 'so-8' } as const;
    await storeTestReport(database, left.id, report);
    await expect(storeTestReport(database, right.id, report)).rejects.toThrow('attempts');
  });
});

describe('the journal', () => {
  const money = { amount: '3.20', currency: 'USD' };

  it('contains one debit and one credit per attempt, for any number of records', async () => {
    const { id: attemptId } = await newAttempt();
    const record = (direction: 'debit' | 'credit') =>
      database.run((db) => recordMovement(db, { direction, attemptId, money }));
    expect([await record('debit'), await record('debit')]).toEqual([true, false]);
    expect([await record('credit'), await record('credit')]).toEqual([true, false]);
    expect(await entries(attemptId)).toHaveLength(2);
  });

  it.each([
    ['update', sql`update journal set amount = 0`],
    ['delete', sql`delete from journal`],
    ['truncate', sql`truncate journal cascade`],
  ])('is append-only, so the database refuses every %s', async (_what, statement) => {
    const { id: attemptId } = await newAttempt();
    await database.run((db) => recordMovement(db, { direction: 'debit', attemptId, money }));
    const before = await database.run((db) => db.select().from(journal));
    const cause = { message: expect.stringContaining('append-only') };
    await expect(database.run((db) => db.execute(statement))).rejects.toMatchObject({ cause });
    expect(await database.run((db) => db.select().from(journal))).toEqual(before);
  });
});

describe('silent attempts', () => {
  it('are possible purchases without report and look-up, with the longest silence first', async () => {
    await database.run((db) => db.update(attempts).set({ state: 'refused' }));
    const [old, young, asked, settled] = [
      await newAttempt(),
      await newAttempt(),
      await newAttempt(),
      await newAttempt(),
    ];
    await claim(old.id, NOW);
    await claim(young.id, later(50_000));
    await claim(asked.id, later(-5_000));
    await database.run((db) => markLookedUp(db, [asked.id], later(70_000)));
    await claim(settled.id, NOW);
    await database.transaction((tx) => recordReport(tx, settled.id, { outcome: 'completed', serviceId: 'so-9' }, NOW));
    const silent = async (now: Date, more: Partial<SilencePolicy> = {}) => {
      const policy = { ...DEFAULT_POLICY.reconcile, silentAfterMs: 0, ...more };
      return (await database.run((db) => findSilentAttempts(db, policy, now))).map(({ id }) => id);
    };
    expect(await silent(later(1))).toEqual([old.id]);
    expect(await silent(later(60_000))).toEqual([old.id, young.id]);
    expect(await silent(later(80_000))).toEqual([old.id, young.id, asked.id]);
    expect(await silent(later(80_000), { silentPerRun: 1 })).toHaveLength(1);
    expect(await silent(later(80_000), { silentAfterMs: 40_000 })).toEqual([old.id]);
  });

  it('are looked up less often with their age, and at least every six hours', async () => {
    await database.run((db) => db.update(attempts).set({ state: 'refused' }));
    const { id } = await newAttempt();
    await claim(id, NOW);
    const isSilent = async (asked: number, now: number) => {
      await database.run((db) => markLookedUp(db, [id], later(asked)));
      return (await database.run((db) => findSilentAttempts(db, DEFAULT_POLICY.reconcile, later(now)))).length === 1;
    };
    const [minute, hour] = [60_000, 3_600_000];
    expect(await isSilent(10 * minute, 12 * minute + 1)).toBe(true);
    // After ten hours, every half an hour.
    expect(await isSilent(10 * hour, 10 * hour + 29 * minute)).toBe(false);
    expect(await isSilent(10 * hour, 10 * hour + 32 * minute)).toBe(true);
    expect(await isSilent(300 * hour, 305 * hour)).toBe(false);
    expect(await isSilent(300 * hour, 306 * hour + 1)).toBe(true);
  });
});
