import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { requestBodyAad } from '#db/encryption-aads.ts';
import { attempts } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { orderRow, readWork } from '#db/work/rows.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const bench = disposedAtEnd(await ActivityBench.start());
// Each test begins with a failed send. None of the tests is about the circuit breaker.
bench.gate.circuitFailures = 1_000;
afterEach(async () => {
  bench.purchaseInForce.resendAllowed = true;
  await bench.admin.calm();
});

const WINDOW_MS = 600_000;
const LATER_MS = 3_600_000;
const rowOf = (ids: AttemptRef) => bench.database.run((db) => findAttemptById(db, ids.attemptId));
const resend = (ids: AttemptRef) => bench.activities.sendPurchase({ ...ids, resendWindowMs: WINDOW_MS });

/** Delivers the first request of an attempt to the service only now. */
async function arriveLate(ids: AttemptRef): Promise<void> {
  const { id, encryptedRequestBody, idempotencyKey, reference } = await rowOf(ids);
  const { packageId } = await bench.database.run((db) => readWork(db, ids.work).then(orderRow));
  const body = bench.keyRing.decrypt(encryptedRequestBody, requestBodyAad(id));
  const answer = await bench.service.createOrder({
    idempotencyKey,
    reference: reference ?? '',
    packageId,
    body,
    leaseLeftMs: () => LATER_MS,
  });
  expect(answer.ok).toBe(true);
}

const debits = async () => (await bench.admin.ledger()).filter(({ type }) => type === 'debit').length;

/** A purchase whose only send got no answer an hour ago. Its resend window is over. */
async function unanswered(
  ids: AttemptRef,
  endpoint: 'createOrder' | 'createTopup' | 'createVpnOrder' | 'cancelEsim',
  bought: boolean,
): Promise<AttemptRef> {
  const fault = bought ? ({ kind: 'server_error', after_work: true } as const) : ({ kind: 'server_error' } as const);
  await bench.admin.onRequest(endpoint, fault);
  await bench.activities.sendPurchase(ids);
  expect(await rowOf(ids)).toMatchObject({ state: 'unknown' });
  await bench.pass(LATER_MS);
  expect(await resend(ids)).toMatchObject({ outcome: { kind: 'too_late' } });
  return ids;
}

const BEGIN = {
  order: async () => unanswered(await bench.begin(), 'createOrder', false),
  topup: async () => unanswered(await bench.beginTopup(), 'createTopup', false),
  vpn_subscription: async () => unanswered(await bench.beginSubscription(), 'createVpnOrder', false),
  cancellation: async () => unanswered(await bench.beginCancellation(), 'cancelEsim', false),
} as const;

describe('absence proven by a complete list and a complete wallet', () => {
  it.each(['order', 'topup', 'vpn_subscription'] as const)(
    'starts the resend window of an unknown %s again, for the same key and one debit',
    async (kind) => {
      const ids = await BEGIN[kind]();
      const before = await debits();
      const row = await rowOf(ids);
      expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
      expect(await rowOf(ids)).toMatchObject({
        state: 'unknown',
        anyUnknown: true,
        settled: false,
        idempotencyKey: row.idempotencyKey,
        firstSentAt: row.firstSentAt,
      });
      expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' } });
      expect((await debits()) - before).toBe(1);
    },
  );

  it('starts the resend window of an unknown cancellation again, because the eSIM is unchanged', async () => {
    const ids = await BEGIN.cancellation();
    expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
    expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted' } });
  });

  it('covers a send without a stored result, because its worker died', async () => {
    const ids = await BEGIN.order();
    await bench.database.run((db) =>
      db.update(attempts).set({ state: 'sending' }).where(eq(attempts.id, ids.attemptId)),
    );
    expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
    expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted' } });
  });

  it.each(['before the resend', 'after it'] as const)(
    'keeps one debit when a request arrives late, %s, because the key is the same',
    async (when) => {
      const ids = await BEGIN.order();
      const before = await debits();
      const { reference } = await rowOf(ids);
      expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'absent' });
      if (when === 'before the resend') await arriveLate(ids);
      expect(await resend(ids)).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' } });
      if (when === 'after it') await arriveLate(ids);
      expect(await bench.admin.orders(reference ?? '')).toHaveLength(1);
      expect((await debits()) - before).toBe(1);
    },
  );

  it('expires with its resend window, and allows no send afterwards', async () => {
    const ids = await BEGIN.order();
    await bench.activities.proveAbsence(ids);
    await bench.pass(WINDOW_MS + 1);
    expect(await resend(ids)).toMatchObject({ outcome: { kind: 'too_late' } });
  });
});

describe('a proof of absence', () => {
  const expectNothingSent = async (ids: AttemptRef) =>
    expect(await resend(ids)).toMatchObject({
      outcome: { kind: expect.stringMatching(/^(too_late|resend_not_allowed)$/) },
    });

  it('fails when the list contains the purchase, and the purchase is looked up', async () => {
    const ids = await unanswered(await bench.begin(), 'createOrder', true);
    expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'changed' });
    await expectNothingSent(ids);
  });

  it.each(['listOrders', 'listWalletTransactions'] as const)(
    'fails while %s returns an error, and can be tried again',
    async (endpoint) => {
      const ids = await BEGIN.order();
      await bench.admin.onRequest(endpoint, { kind: 'server_error' }, { count: null });
      expect(await bench.activities.proveAbsence(ids)).toMatchObject({ kind: 'unproven', mayPass: true });
      await expectNothingSent(ids);
    },
  );

  it('fails on an empty list, which does not show our newest delivered purchase either', async () => {
    const ids = await unanswered(await bench.begin(), 'createOrder', true);
    await bench.admin.onRequest(
      'listOrders',
      { kind: 'answer', status: 200, body: '{"data":[],"next_cursor":null}' },
      { count: null },
    );
    expect(await bench.activities.proveAbsence(ids)).toMatchObject({ kind: 'awaited', reason: 'no_control' });
    await expectNothingSent(ids);
  });

  it('fails when one entry of the list cannot be read', async () => {
    const ids = await BEGIN.order();
    await bench.admin.onRequest(
      'listOrders',
      { kind: 'answer', status: 200, body: '{"data":[{"id":7}],"next_cursor":null}' },
      { count: null },
    );
    expect(await bench.activities.proveAbsence(ids)).toMatchObject({ kind: 'unproven' });
    await expectNothingSent(ids);
  });

  it('fails for a top-up while the wallet shows a debit of a top-up that the list does not contain', async () => {
    const ids = await unanswered(await bench.beginTopup(), 'createTopup', true);
    await bench.admin.onRequest(
      'listTopups',
      { kind: 'answer', status: 200, body: '{"data":[],"next_cursor":null}' },
      { count: 1 },
    );
    expect(await bench.activities.proveAbsence(ids)).toMatchObject({ kind: 'awaited', reason: 'suspect' });
    await expectNothingSent(ids);
  });

  it('fails without a look-up after an operator revoked resends', async () => {
    const ids = await BEGIN.order();
    bench.purchaseInForce.resendAllowed = false;
    const asked = (await bench.admin.requests('listOrders')).length;
    expect(await bench.activities.proveAbsence(ids)).toMatchObject({ kind: 'unproven', mayPass: false });
    expect(await bench.admin.requests('listOrders')).toHaveLength(asked);
    await expectNothingSent(ids);
  });

  it('fails when the attempt was sent again during the look-up', async () => {
    const ids = await BEGIN.order();
    const read = bench.service.listWalletTransactions.bind(bench.service);
    bench.service.listWalletTransactions = async (...input) => {
      await bench.database.run((db) => db.update(attempts).set({ sends: 2 }).where(eq(attempts.id, ids.attemptId)));
      return read(...input);
    };
    try {
      expect(await bench.activities.proveAbsence(ids)).toEqual({ kind: 'changed' });
    } finally {
      bench.service.listWalletTransactions = read;
    }
    await expectNothingSent(ids);
  });
});
