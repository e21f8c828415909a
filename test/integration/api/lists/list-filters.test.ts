import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { newId } from '#db/connection/ids.ts';
import { storeEsimState } from '#db/esims/esim-queries.ts';
import { attempts, esims, journal, topups, walletMovements } from '#db/schema.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { TEST_NOW } from '#test/support/network/api.ts';

const { api, caller } = await apiOfFile();

const at = (ms: number) => new Date(TEST_NOW + ms);
const listed = z.object({ data: z.array(z.object({ id: z.unknown() })) });
const idsOf = async (path: string) => (await caller.get(path)).read(listed).data.map(({ id }) => id);

describe('recently changed eSIMs', () => {
  it('are those with changed fields; an unchanged reading does not count', async () => {
    const id = newId('esim');
    const facts = { status: 'installed', installedAt: at(0), activatedAt: null, expiresAt: null };
    const before = new Date('2020-01-31T12:00:00Z');
    await insertEsim(id, newId('order'), { ...facts, updatedAt: before });
    const changedAt = async () =>
      (await api.database.run((db) => db.select({ at: esims.updatedAt }).from(esims).where(eq(esims.id, id))))[0]?.at;
    const since = new Date(before.getTime() + 1);
    await api.database.run((db) => storeEsimState(db, id, facts, at(1)));
    expect([await changedAt(), await idsOf(`/v1/esims?updated_after=${since.toISOString()}`)]).toEqual([before, []]);
    for (const [n, change] of [{ status: 'active' }, { activatedAt: at(2) }, { expiresAt: at(3) }].entries()) {
      await api.database.run((db) => db.update(esims).set({ updatedAt: before }).where(eq(esims.id, id)));
      await api.database.run((db) => storeEsimState(db, id, { ...facts, ...change }, at(2 + n)));
      expect([change, await idsOf(`/v1/esims?updated_after=${since.toISOString()}`)]).toEqual([change, [id]]);
    }
  });
});

describe('movements of the wallet', () => {
  it('are filtered by their order and eSIM, for every kind of movement', async () => {
    const [order, other, esim, topup] = [newId('order'), newId('order'), newId('esim'), newId('topup')];
    await insertEsim(esim, order, {});
    /** An attempt with its number, and the names by which the service knows it. */
    const attempt = (subjectId: string, number: number, names: Partial<typeof attempts.$inferInsert>) => {
      const id = newId('attempt');
      const subject = { subjectKind: subjectId === topup ? 'topup' : 'order', subjectId, number } as const;
      return { ...subject, id, idempotencyKey: id, encryptedRequestBody: Buffer.alloc(1), ...names };
    };
    const rowsOfAttempts = [
      attempt(order, 1, { reference: 'shop-1', serviceId: 'so_1', serviceEsimId: 'se_1', state: 'failed' }),
      attempt(order, 2, { reference: 'shop-1~2' }),
      attempt(topup, 1, { serviceId: 'st_1', serviceEsimId: 'se_1' }),
      attempt(other, 1, { reference: 'shop-2', serviceId: 'so_2' }),
    ] as const;
    const [bought, again, recharged, foreign] = rowsOfAttempts.map(({ id }) => id) as [string, string, string, string];
    const moved = { amount: '1.00', currency: 'EUR' };
    const movement = { ...moved, reason: 'other', occurredAt: at(0), readAt: at(0) } as const;
    const mine = { direction: 'debit', ...movement } as const;
    const rows = await api.database.transaction(async (tx) => {
      await tx.insert(topups).values({ apiKeyId: 'key_test', packageId: 101, id: topup, esimId: esim });
      await tx.insert(attempts).values([...rowsOfAttempts]);
      await tx.insert(walletMovements).values([
        { ...mine, serviceId: 'wt_1', causeKind: 'adjustment', causeId: 'wt_1', attemptId: bought },
        { ...mine, serviceId: 'wt_2', causeKind: 'adjustment', causeId: 'wt_2', attemptId: foreign },
        { ...mine, serviceId: 'wt_3', orderId: 'so_1' },
        { ...mine, serviceId: 'wt_4', orderReference: 'shop-1~2' },
        { ...mine, serviceId: 'wt_5', topupId: 'st_1' },
        { ...mine, serviceId: 'wt_6', orderId: 'so_2', topupId: 'so_1' },
        { ...mine, serviceId: 'wt_7' },
      ]);
      return tx
        .insert(journal)
        .values([
          { ...moved, direction: 'debit', causeKind: 'attempt', causeId: bought },
          { ...moved, direction: 'credit', causeKind: 'attempt', causeId: bought },
          { ...moved, direction: 'debit', causeKind: 'attempt', causeId: again },
          { ...moved, direction: 'debit', causeKind: 'adjustment', causeId: 'wt_1' },
          { ...moved, direction: 'credit', causeKind: 'refund', causeId: order },
          { ...moved, direction: 'debit', causeKind: 'attempt', causeId: recharged },
          { ...moved, direction: 'credit', causeKind: 'refund', causeId: topup },
          { ...moved, direction: 'debit', causeKind: 'attempt', causeId: foreign },
          { ...moved, direction: 'debit', causeKind: 'adjustment', causeId: 'wt_2' },
          { ...moved, direction: 'credit', causeKind: 'deposit', causeId: order },
        ])
        .returning({ id: journal.id });
    });
    const newest = (...places: number[]) => places.map((place) => `jrn_${rows[place]?.id}`).toReversed();
    expect(await idsOf(`/v1/wallet/transactions?order_id=${order}`)).toEqual(newest(0, 1, 2, 3, 4));
    expect(await idsOf(`/v1/wallet/transactions?esim_id=${esim}`)).toEqual(newest(0, 1, 2, 3, 4, 5, 6));
    expect(await idsOf(`/v1/wallet/transactions?order_id=${order}&direction=credit`)).toEqual(newest(1, 4));
    expect(await idsOf(`/v1/wallet/transactions?order_id=${other}&esim_id=${esim}`)).toEqual([]);
    expect(await idsOf(`/v1/wallet/transactions?esim_id=${newId('esim')}`)).toEqual([]);
    const unexplained = z.object({ data: z.array(z.object({ service: z.object({ id: z.string() }) })) });
    const named = async (query: string) => {
      const { data } = (await caller.get(`/v1/wallet/transactions?cause=none&${query}`)).read(unexplained);
      return data.map(({ service }) => service.id);
    };
    expect(await named(`order_id=${order}`)).toEqual(['wt_4', 'wt_3']);
    // Ids of the service are separate from our own ids.
    const both = await caller.get(`/v1/wallet/transactions?cause=none&order_id=${other}`);
    const names = { service_order_id: 'so_2', service_topup_id: 'so_1', service_esim_id: null };
    expect(both.at('data', 0, 'service')).toMatchObject({ id: 'wt_6', ...names });
    expect(await named(`esim_id=${esim}`)).toEqual(['wt_5', 'wt_4', 'wt_3']);
    expect(await named(`order_id=${other}`)).toEqual(['wt_6']);
  });
});

async function insertEsim(id: string, orderId: string, more: Partial<typeof esims.$inferInsert>): Promise<void> {
  const facts = { serviceEsimId: id, iccid: '8944500102198304826', packageId: 101, status: 'installed', readAt: at(0) };
  await api.database.run((db) =>
    db.insert(esims).values({ id, orderId, encryptedActivationCode: Buffer.alloc(1), ...facts, ...more }),
  );
}
