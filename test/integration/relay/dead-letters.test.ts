import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { DecryptionError } from '#crypto/key-ring.ts';
import { isWaking, requestWake } from '#db/queues/outbox.ts';
import { attempts, cases, inbox, outbox } from '#db/schema.ts';
import { closeCase } from '#db/work/cases.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import {
  deadLetterId,
  type DeadLetterQueue,
  listDeadLetters,
  settleDeadLetter,
  type DeadLetterAction,
} from '#fulfilment/operator/dead-letters.ts';
import { buyingBlock } from '#fulfilment/work/buying-block.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import {
  acceptTestOrder,
  deliverTestEvent,
  deliverUnreadableEvent,
  openTestAttempt,
  orderWork,
} from '#test/support/work/order-rows.ts';
import { passQueueTime, testRelay } from '#test/support/work/relay.ts';
import type { WorkWorkflows } from '#worker/relay/relay.ts';

const HOUR = 3_600_000;
const TRIES = 3;

/** Throws when a test wants Temporal to fail. */
let onCall: () => void;

const notified = async () => {
  onCall();
  return 'notified' as const;
};
const workflows: WorkWorkflows = {
  start: async () => {
    onCall();
    return 'started';
  },
  wake: notified,
  signalReport: notified,
};

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
beforeEach(async () => {
  onCall = () => undefined;
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.delete(outbox));
  await database.run((db) => db.delete(cases));
});

/** Runs the relay `times` times, with its retry delay in between. */
async function tries(times: number) {
  const { relay, close } = testRelay(opened, workflows, {
    policy: { ...DEFAULT_POLICY.relay, retryDelayMs: HOUR, retryDelayMaxMs: HOUR, lastingTries: TRIES },
  });
  for (let n = 0; n < times; n += 1) {
    await relay.drain();
    await passQueueTime(database, HOUR);
  }
  await close();
}

async function ordered(reference: string) {
  const orderId = await acceptTestOrder(database);
  await openTestAttempt(database, orderId, { reference });
  await database.run((db) => db.delete(outbox));
  return orderWork(orderId);
}

const inboxRows = () => database.run((db) => db.select().from(inbox).orderBy(inbox.id));
const outboxRows = () => database.run((db) => db.select().from(outbox));
const openCases = async () =>
  (await database.run((db) => db.select().from(cases))).filter(({ closedAt }) => closedAt === null);
const letters = (queue: DeadLetterQueue) => database.run((db) => listDeadLetters(db, queue, { limit: 10 }));
const settle = (action: Omit<DeadLetterAction, 'actor'>) =>
  database.transaction((tx) => settleDeadLetter(tx, { ...action, actor: 'key_test' }, new Date()));
const requeue = async (queue: DeadLetterQueue) => {
  const [letter] = await letters(queue);
  await settle({ queue, rowId: letter!.row.id, action: 'requeue', reason: 'it was mended' });
};
const barrier = (work: ReturnType<typeof orderWork>) => database.transaction((tx) => buyingBlock(tx, work));

describe('an undecryptable report of the service', () => {
  it('is quarantined with a case and blocks buying until an operator dismisses it', async () => {
    const work = await ordered('ref-encrypted');
    const event = { outcome: 'completed', serviceId: 'so-encrypted', reference: 'ref-encrypted' } as const;
    await deliverUnreadableEvent(database, event);
    await tries(TRIES - 1);
    expect(await inboxRows()).toMatchObject([{ state: 'pending', lastingErrors: TRIES - 1 }]);
    await tries(1);
    const [row] = await inboxRows();
    const subject = { subjectKind: 'order', subjectId: work.id };
    expect(row).toMatchObject({ state: 'quarantined', ...subject, note: expect.stringContaining('ENCRYPTION_KEYS') });
    const detail = expect.stringContaining(deadLetterId('inbox', row!.id));
    expect(await openCases()).toMatchObject([{ reason: 'message_quarantined', ...subject, detail }]);
    expect(await barrier(work)).toBe('observations_pending');
    await tries(2);
    expect(await inboxRows()).toMatchObject([{ tries: TRIES }]);

    const dismissal = { queue: 'inbox', rowId: row!.id, action: 'dismiss', reason: 'of no use' } as const;
    await settle(dismissal);
    expect(await barrier(work)).toBeUndefined();
    expect(await openCases()).toEqual([]);
    const note = expect.stringContaining('dismissed: of no use');
    expect(await inboxRows()).toMatchObject([{ state: 'ignored', note }]);
    expect(await settle(dismissal)).toBeUndefined();
  });

  it('has a separate case when its work is unknown', async () => {
    await deliverUnreadableEvent(database, { outcome: 'completed', serviceId: 'so-nobody', deliveryId: 'dlv-nobody' });
    await tries(TRIES);
    const subject = { subjectKind: 'delivery', subjectId: 'dlv-nobody' };
    expect(await openCases()).toMatchObject([{ reason: 'message_quarantined', ...subject }]);
  });

  it('is signalled once it is requeued and readable; the last one of its work closes the case', async () => {
    await ordered('ref-again');
    await deliverTestEvent(database, { outcome: 'processing', serviceId: 'so-again', reference: 'ref-again' });
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-again', reference: 'ref-again' });
    const bodies = (await inboxRows()).map(({ encryptedBody }) => encryptedBody);
    await database.run((db) => db.update(inbox).set({ encryptedBody: Buffer.from('altered') }));
    await tries(TRIES);
    expect(await letters('inbox')).toHaveLength(2);
    for (const [n, { id }] of (await inboxRows()).entries()) {
      await database.run((db) => db.update(inbox).set({ encryptedBody: bodies[n]! }).where(eq(inbox.id, id)));
    }
    await requeue('inbox');
    expect(await openCases()).toHaveLength(1);
    await requeue('inbox');
    expect(await openCases()).toEqual([]);
    await tries(1);
    const states = (await inboxRows()).map(({ state, lastingErrors }) => `${state} ${lastingErrors}`);
    expect(states).toEqual(['relayed 0', 'relayed 0']);
    expect(await letters('inbox')).toEqual([]);
  });
});

describe('a workflow request that cannot be executed', () => {
  it('is quarantined with a case, is not counted as pending, and is requeued or dismissed by an operator', async () => {
    const work = { kind: 'order', id: 'ord_00000000000000000000000000' } as const;
    await database.transaction((tx) => requestWake(tx, work));
    await tries(TRIES);
    const lastError = expect.stringContaining('does not exist');
    expect(await outboxRows()).toMatchObject([{ quarantinedAt: expect.any(Date), lastError }]);
    expect(await openCases()).toMatchObject([{ reason: 'message_quarantined', subjectId: work.id }]);
    expect(await database.run((db) => isWaking(db, work))).toBe(false);
    await tries(1);
    expect(await outboxRows()).toMatchObject([{ tries: TRIES }]);
    await requeue('outbox');
    expect(await outboxRows()).toMatchObject([{ quarantinedAt: null }]);
    expect(await openCases()).toEqual([]);
    await tries(TRIES);
    const [letter] = await letters('outbox');
    await settle({ queue: 'outbox', rowId: letter!.row.id, action: 'dismiss', reason: 'it is gone' });
    expect(await outboxRows()).toEqual([]);
    expect(await openCases()).toEqual([]);
  });

  it('closes its case once it is made again and reaches the workflow', async () => {
    const work = await ordered('ref-again-wake');
    await database.transaction((tx) => requestWake(tx, work));
    onCall = () => {
      throw new DecryptionError('a key is missing');
    };
    await tries(TRIES);
    expect(await openCases()).toMatchObject([{ reason: 'message_quarantined', subjectId: work.id }]);
    onCall = () => undefined;
    await database.transaction((tx) => requestWake(tx, work));
    await tries(1);
    expect(await outboxRows()).toEqual([]);
    expect(await openCases()).toEqual([]);
  });
});

it('a verdict on a contradiction is valid although its report cannot be passed on to the workflow', async () => {
  const work = await ordered('ref-verdict');
  await database.run((db) =>
    db.update(attempts).set({ state: 'failed', settled: true }).where(eq(attempts.subjectId, work.id)),
  );
  await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-verdict', reference: 'ref-verdict' });
  onCall = () => {
    throw new Error('14 UNAVAILABLE: Temporal is down');
  };
  await tries(1);
  expect(await openCases()).toMatchObject([{ reason: 'contradiction' }]);
  await database.run((db) => closeCase(db, work, 'contradiction', 'It was bought.', new Date()));
  await tries(1);
  expect(await inboxRows()).toMatchObject([{ state: 'pending', decision: 'contradiction' }]);
  expect(await openCases()).toEqual([]);
});

it('an outage of Temporal quarantines nothing, for any duration', async () => {
  onCall = () => {
    throw new Error('14 UNAVAILABLE: Temporal is down');
  };
  const work = await ordered('ref-outage');
  await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-outage', reference: 'ref-outage' });
  await database.transaction((tx) => requestWake(tx, work));
  await tries(5 * TRIES);
  expect(await inboxRows()).toMatchObject([{ state: 'pending', tries: 5 * TRIES, lastingErrors: 0 }]);
  expect(await outboxRows()).toMatchObject([{ quarantinedAt: null, tries: 5 * TRIES, lastingErrors: 0 }]);
  expect(await openCases()).toEqual([]);
});
