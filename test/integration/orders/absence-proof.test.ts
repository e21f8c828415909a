import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { requestBodyAad } from '#db/encryption-aads.ts';
import { attempts } from '#db/schema.ts';
import { orderRow, readWork } from '#db/work/rows.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench, SEND_CALLS } from '#test/support/work/activities/activity-bench.ts';

const bench = disposedAtEnd(await ActivityBench.start());
// Each test begins with a failed send. None of the tests is about the circuit breaker.
bench.gate.circuitFailures = 1_000;
afterEach(async () => {
  bench.purchaseInForce.resendAllowed = true;
  await bench.admin.calm();
});

const WINDOW_MS = 600_000;
const LATER_MS = 3_600_000;
const resend = (ids: AttemptRef) => bench.activities.sendPurchase({ ...ids, resendWindowMs: WINDOW_MS });

/** Delivers the first request of an attempt to the service only now. */
async function arriveLate(ids: AttemptRef): Promise<void> {
  const { id, encryptedRequestBody, idempotencyKey, reference } = await bench.attempt(ids);
  const { packageId } = await bench.database.run((db) => readWork(db, ids.work).then(orderRow));
  const body = bench.keyRing.decrypt(encryptedRequestBody, requestBodyAad(id));
  const request = { idempotencyKey, reference: reference ?? '', packageId, body, leaseLeftMs: () => LATER_MS };
  expect((await bench.service.createOrder(request)).ok).toBe(true);
}

const debits = async () => (await bench.admin.ledger()).filter(({ type }) => type === 'debit').length;

/** A purchase whose only send got no answer an hour ago. Its resend window is over. */
async function unanswered(kind: WorkKind = 'order', bought = false): Promise<AttemptRef> {
  const ids = await bench.beginOf(kind);
  await bench.admin.onRequest(SEND_CALLS[kind], { kind: 'server_error', after_work: bought });
  await bench.activities.sendPurchase(ids);
  expect(await bench.attempt(ids)).toMatchObject({ state: 'unknown' });
  await bench.pass(LATER_MS);
  expect(await resend(ids)).toMatchObject({ outcome: { kind: 'too_late' } });
  return ids;
}

describe('absence proven by a complete list and a complete wallet', () => {
  it.each(WORK_KINDS)(
    'starts the resend window of unknown work of the kind %s again, for the same key and at most one debit',
    async (kind) => {
      const ids = await unanswered(kind);
      const before = await debits();
      const row = await bench.attempt(ids);
      expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
      expect(await bench.attempt(ids)).toMatchObject({
        state: 'unknown',
        anyUnknown: true,
        settled: false,
        idempotencyKey: row.idempotencyKey,
        firstSentAt: row.firstSentAt,
      });
      expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' } });
      expect((await debits()) - before).toBe(kind === 'cancellation' ? 0 : 1);
    },
  );

  it('covers a send without a stored result, because its worker died', async () => {
    const ids = await unanswered();
    await bench.database.run((db) =>
      db.update(attempts).set({ state: 'sending' }).where(eq(attempts.id, ids.attemptId)),
    );
    expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
    expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted' } });
  });

  it.each(['before the resend', 'after it'] as const)(
    'keeps one debit when a request arrives late, %s, because the key is the same',
    async (when) => {
      const ids = await unanswered();
      const before = await debits();
      const { reference } = await bench.attempt(ids);
      expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
      if (when === 'before the resend') await arriveLate(ids);
      expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' } });
      if (when === 'after it') await arriveLate(ids);
      expect(await bench.admin.orders(reference ?? '')).toHaveLength(1);
      expect((await debits()) - before).toBe(1);
    },
  );

  it('expires with its resend window, and allows no send afterwards', async () => {
    const ids = await unanswered();
    await bench.activities.proveAbsence(ids);
    await bench.pass(WINDOW_MS + 1);
    expect(await resend(ids)).toMatchObject({ outcome: { kind: 'too_late' } });
  });
});

describe('a proof of absence', () => {
  const lists = async (endpoint: 'listOrders' | 'listTopups', data: readonly unknown[], count: number | null) => {
    const body = JSON.stringify({ data, next_cursor: null });
    await bench.admin.onRequest(endpoint, { kind: 'answer', status: 200, body }, { count });
  };
  /** The proof ends with this result, and nothing is sent. */
  const expectProof = async (ids: AttemptRef, result: unknown) => {
    expect(await bench.activities.proveAbsence(ids)).toEqual(result);
    const kind = expect.stringMatching(/^(too_late|resend_not_allowed)$/);
    expect(await resend(ids)).toMatchObject({ outcome: { kind } });
  };

  it('fails when the list contains the purchase, and the purchase is looked up', async () => {
    await expectProof(await unanswered('order', true), { kind: 'changed' });
  });

  it.each(['listOrders', 'listWalletTransactions'] as const)(
    'fails while %s returns an error, and can be tried again',
    async (endpoint) => {
      const ids = await unanswered();
      await bench.admin.onRequest(endpoint, { kind: 'server_error' }, { count: null });
      await expectProof(ids, expect.objectContaining({ kind: 'unproven', mayPass: true }));
    },
  );

  it('fails on an empty list, which does not show our newest delivered purchase either', async () => {
    const ids = await unanswered('order', true);
    await lists('listOrders', [], null);
    await expectProof(ids, expect.objectContaining({ kind: 'awaited', reason: 'no_control' }));
  });

  it('fails when one entry of the list cannot be read', async () => {
    const ids = await unanswered();
    await lists('listOrders', [{ id: 7 }], null);
    await expectProof(ids, expect.objectContaining({ kind: 'unproven' }));
  });

  it('fails for a top-up while the wallet shows a debit of a top-up that the list does not contain', async () => {
    const ids = await unanswered('topup', true);
    await lists('listTopups', [], 1);
    await expectProof(ids, expect.objectContaining({ kind: 'awaited', reason: 'suspect' }));
  });

  it('fails without a look-up after an operator revoked resends', async () => {
    const ids = await unanswered();
    bench.purchaseInForce.resendAllowed = false;
    const asked = (await bench.admin.requests('listOrders')).length;
    await expectProof(ids, expect.objectContaining({ kind: 'unproven', mayPass: false }));
    expect(await bench.admin.requests('listOrders')).toHaveLength(asked);
  });

  it('fails when the attempt was sent again during the look-up', async () => {
    const ids = await unanswered();
    const read = bench.service.listWalletTransactions.bind(bench.service);
    onTestFinished(() => void (bench.service.listWalletTransactions = read));
    bench.service.listWalletTransactions = async (...input) => {
      await bench.database.run((db) => db.update(attempts).set({ sends: 2 }).where(eq(attempts.id, ids.attemptId)));
      return read(...input);
    };
    await expectProof(ids, { kind: 'changed' });
  });
});
