import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { answerOnce } from '#api/http/idempotency.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { Problem } from '#api/problems/problem.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { idempotencyKeys } from '#db/schema.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';

const opened = await openTestDatabase();
afterAll(() => opened.drop());

const keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 7) }]);

const send = (database: Database, header: string, work: (tx: Executor) => Promise<Reply>, json: object = {}) =>
  answerOnce(
    { database, keyRing, now: Date.now },
    { caller: { lineageId: 'key_1' }, header: () => header, target: 'POST /v1/test', json },
    work,
  );

/**
 * A database whose next transaction sees what was committed before `meanwhile`, and runs after it: as a statement that
 * took its snapshot before another request ended, and its lock after.
 */
function behind(meanwhile: () => Promise<unknown>): Database {
  return {
    run: (work: (db: Executor) => Promise<unknown>) => opened.database.run(work),
    transaction: (work: (tx: Executor) => Promise<unknown>) =>
      opened.database.transaction(async (tx) => {
        await tx.execute(sql`set transaction isolation level repeatable read`);
        await tx.execute(sql`select 1`);
        await meanwhile();
        return work(tx);
      }),
  } as unknown as Database;
}

describe('a repetition that takes its lock in the moment in which the first request ends', () => {
  const first = jsonReply(202, { made: 'by the first' });
  const refuse = async (): Promise<Reply> => {
    throw new Problem('order_not_found');
  };
  const stored = () => opened.database.run((db) => db.$count(idempotencyKeys));

  it.each<[string, () => Promise<Reply>]>([
    ['would work again', async () => jsonReply(202, { made: 'by the second' })],
    ['is refused because of what the first one made', refuse],
  ])('gets the first answer, byte for byte, where it %s', async (_name, work) => {
    const key = randomUUID();
    const before = await stored();
    const answer = await send(
      behind(() => send(opened.database, key, async () => first)),
      key,
      work,
    );
    expect([answer.body.toString(), answer.headers['Idempotent-Replayed']]).toEqual([first.body.toString(), 'true']);
    expect(await stored()).toBe(before + 1);
  });

  it('is refused where it is another request', async () => {
    const key = randomUUID();
    const database = behind(() => send(opened.database, key, async () => first));
    await expect(send(database, key, async () => first, { other: true })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('keeps its refusal where the first one was refused as well', async () => {
    const key = randomUUID();
    await expect(send(opened.database, key, refuse)).rejects.toMatchObject({ code: 'order_not_found' });
    await expect(send(opened.database, key, refuse)).rejects.toMatchObject({ code: 'order_not_found' });
  });
});
