import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { attempts } from '#db/schema.ts';
import { findAttemptById, workOf } from '#db/work/attempts.ts';
import { openCase } from '#db/work/cases.ts';
import { lockWork, type AttemptRow } from '#db/work/rows.ts';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import { ATTEMPT_STATES, type AttemptState, type ObservedOutcome } from '#domain/relay/observation.ts';
import { ATTEMPT_LIFECYCLE, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { markUnknown } from '#fulfilment/attempts/recover.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';
import { recordSendFailure } from '#fulfilment/purchase/answer.ts';
import { openAttempt } from '#fulfilment/purchase/begin.ts';
import { completeWork } from '#fulfilment/work/record-step.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestCancellation, acceptTestOrder, claimOf, openTestAttempt } from '#test/support/work/order-rows.ts';

const { database } = disposedAtEnd(await openTestDatabase());

const NOW = new Date('2030-01-31T12:00:00Z');
const LEASE = 'lease-that-ran-out';

const ofOrder = async (): Promise<AttemptRow> => openTestAttempt(database, await acceptTestOrder(database));
async function ofCancellation(): Promise<AttemptRow> {
  const { id } = await acceptTestCancellation(database);
  const attempt = {
    work: { kind: 'cancellation', id },
    number: 1,
    idempotencyKey: randomUUID(),
    reference: undefined,
    encryptedBody: () => Buffer.alloc(1),
  } as const;
  return database.transaction((tx) => openAttempt(tx, attempt));
}

/** An attempt in this state with an expired lease. */
async function attemptIn(
  opening: () => Promise<AttemptRow>,
  state: AttemptState,
  anyUnknown: boolean,
): Promise<AttemptRow> {
  const { id } = await opening();
  const lease = { leaseToken: LEASE, leaseUntil: sql`now()` };
  const row = { state, anyUnknown, ...lease, firstSentAt: NOW, firstUnrefusedSendAt: sql`now()` };
  await database.run((db) => db.update(attempts).set(row).where(eq(attempts.id, id)));
  return database.run((db) => findAttemptById(db, id));
}

type Operation = (attempt: AttemptRow) => Promise<unknown>;

const reported =
  (outcome: ObservedOutcome): Operation =>
  ({ id }) =>
    database.transaction((tx) => recordReport(tx, id, { outcome, serviceId: undefined }, NOW));
const sent =
  (failure: 'timeout' | 'insufficient_balance'): Operation =>
  ({ id }) =>
    database.transaction((tx) => recordSendFailure(tx, id, LEASE, { class: failure, detail: 'It failed.' }));
const judged =
  (resolution: Omit<Extract<OperatorAction, { action: 'resolve' }>, 'action' | 'reason'>): Operation =>
  (attempt) =>
    database.transaction(async (tx) => {
      const work = workOf(attempt);
      await openCase(tx, work, 'contradiction', 'A test asks for a judgement.', attempt.id);
      const action = { action: 'resolve', reason: 'contradiction', ...resolution } as const;
      const operator = { actor: 'key_test', reason: 'test', actionId: randomUUID() };
      expect(await actOnWork(tx, work, action, operator, NOW)).toEqual({ kind: 'applied' });
    });

/** The operation that causes each event of the table. */
const OPERATIONS: Readonly<Record<AttemptEvent, Operation>> = {
  claimed: ({ id }) => claimOf(database, id),
  refused: sent('insufficient_balance'),
  refused_after_unknown: sent('insufficient_balance'),
  unproven: sent('timeout'),
  processing: reported('processing'),
  completed: reported('completed'),
  failed: reported('failed'),
  delivered: (attempt) =>
    database.transaction(async (tx) => {
      const end = { attemptId: attempt.id, charged: undefined, entry: { message: 'Delivered.' }, applied: [] };
      await completeWork(tx, workOf(attempt), await lockWork(tx, workOf(attempt)), end, NOW);
    }),
  records_lost: (attempt) => {
    const known = { number: 1, state: 'unknown', sends: 1, anyUnknown: true } as const;
    return database.transaction((tx) => markUnknown(tx, attempt, known, { leaseMs: 1_000, esimId: null }));
  },
  verdict_bought: judged({ verdict: 'bought', serviceEsimId: 'e-1' }),
  verdict_bought_unseen: judged({ verdict: 'bought' }),
  verdict_bought_undecided: judged({ verdict: 'bought' }),
  verdict_not_bought: judged({ verdict: 'not_bought' }),
};

/** An order is completed only with an eSIM, and has no refund. A cancellation has both events. */
const OF_CANCELLATION: ReadonlySet<AttemptEvent> = new Set(['delivered', 'verdict_bought_undecided']);

/** The results of earlier sends decide between these two events of a refusal. */
const UNKNOWNS: Readonly<Partial<Record<AttemptEvent, readonly boolean[]>>> = {
  refused: [false],
  refused_after_unknown: [true],
};

describe('the row of an attempt', () => {
  it('starts in the first state of the table', async () => {
    expect((await ofOrder()).state).toBe('prepared');
    expect((await ofCancellation()).state).toBe('prepared');
  });

  it.each(Object.keys(ATTEMPT_LIFECYCLE) as AttemptEvent[])(
    'has the state of the table after %s, from every state',
    async (event) => {
      for (const state of ATTEMPT_STATES) {
        for (const anyUnknown of UNKNOWNS[event] ?? [false, true]) {
          const attempt = await attemptIn(OF_CANCELLATION.has(event) ? ofCancellation : ofOrder, state, anyUnknown);
          await OPERATIONS[event](attempt);
          const next = ATTEMPT_LIFECYCLE[event][state];
          const expected = next === 'unchanged' || next === 'forbidden' ? state : next;
          const { state: after } = await database.run((db) => findAttemptById(db, attempt.id));
          expect(after, `${state}, ${event}`).toBe(expected);
        }
      }
    },
  );
});
