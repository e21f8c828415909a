import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { recordMovement } from '#db/money/journal.ts';
import { journal } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder, openTestAttempt } from '#test/support/work/order-rows.ts';

const { database } = disposedAtEnd(await openTestDatabase());

describe('the journal', () => {
  const money = { amount: '3.20', currency: 'USD' };

  it('contains one debit and one credit per attempt, for any number of records', async () => {
    const { id: attemptId } = await openTestAttempt(database, await acceptTestOrder(database));
    const record = (direction: 'debit' | 'credit') =>
      database.run((db) => recordMovement(db, { direction, attemptId, money }));
    expect([await record('debit'), await record('debit'), await record('credit'), await record('credit')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(await database.run((db) => db.select().from(journal).where(eq(journal.causeId, attemptId)))).toHaveLength(2);
  });

  it.each([
    ['update', sql`update journal set amount = 0`],
    ['delete', sql`delete from journal`],
    ['truncate', sql`truncate journal cascade`],
  ])('is append-only, so the database refuses every %s', async (_what, statement) => {
    const { id: attemptId } = await openTestAttempt(database, await acceptTestOrder(database));
    await database.run((db) => recordMovement(db, { direction: 'debit', attemptId, money }));
    const before = await database.run((db) => db.select().from(journal));
    await expect(database.run((db) => db.execute(statement))).rejects.toMatchObject({
      cause: { message: expect.stringContaining('append-only') },
    });
    expect(await database.run((db) => db.select().from(journal))).toEqual(before);
  });
});
