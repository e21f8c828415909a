import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { takeInbox } from '#db/queues/relay-queues.ts';
import { attempts, inbox } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { ownReference } from '#fulfilment/purchase/listing.ts';
import { judgeReport } from '#fulfilment/reports/judge-report.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import { readReport } from '#worker/relay/inbox.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Enough for a look-up by list, and less than one page of it. */
const SILENT = 12;

let bench: ActivityBench;
afterEach(() => bench[Symbol.asyncDispose]());

type Behaviour = Parameters<ActivityBench['admin']['nextPurchases']>[0];
type Endpoint = NonNullable<Parameters<ActivityBench['admin']['onRequest']>[0]>;

/** A kind of work other than orders. `silent-orders.test.ts` tests orders. */
interface Kind {
  readonly send: Endpoint;
  readonly list: Endpoint;
  /** The calls of a single look-up with a known id. */
  readonly single: readonly Endpoint[];
  readonly begin: () => Promise<AttemptRef>;
  /** Accepted, and then without any report. */
  readonly accepted: Behaviour;
  /** The service decides without a webhook. @param nth from 0. */
  readonly decide: (serviceId: string, nth: number) => Promise<void>;
  /** New reports about six accepted items, three of them decided. */
  readonly newReports: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'top-ups': {
    send: 'createTopup',
    list: 'listTopups',
    single: ['getTopup'],
    begin: () => bench.beginTopup(),
    accepted: { operation: 'topup', outcome: 'stay_processing' },
    decide: (id) => bench.admin.completeTopup(id),
    newReports: 3,
  },
  'VPN subscriptions': {
    send: 'createVpnOrder',
    list: 'listVpnSubscriptions',
    single: ['getVpnSubscription'],
    begin: () => bench.beginSubscription(),
    accepted: { operation: 'vpn', outcome: 'stay_processing' },
    decide: (id) => bench.admin.completeSubscription(id),
    newReports: 3,
  },
  cancellations: {
    send: 'cancelEsim',
    list: 'listRefunds',
    single: ['getRefund', 'getEsim'],
    begin: () => bench.beginCancellation(),
    accepted: { operation: 'cancellation', outcome: 'accepted', delay_ms: 30 * DAY },
    decide: (id, nth) => bench.admin.decideRefund(id, nth === 0 ? 'fail' : 'complete'),
    // Each reports once that its eSIM is cancelled.
    newReports: 6,
  },
};
const SUBSCRIPTIONS = KINDS['VPN subscriptions']!;

/** Sends work with the answer `processing` and no later report. */
async function accept({ begin, accepted }: Kind, count: number): Promise<AttemptRow[]> {
  const begun = await Promise.all(Array.from({ length: count }, begin));
  await bench.admin.nextPurchases({ ...accepted, count });
  return send(begun);
}

/** Sends work with unreadable answers, which open no circuit. The service executes all of it. */
async function lose(kind: Kind, begun: readonly AttemptRef[]): Promise<AttemptRow[]> {
  await bench.admin.onRequest(kind.send, { kind: 'garbage_body' }, { count: begun.length });
  return send(begun);
}

async function send(begun: readonly AttemptRef[]): Promise<AttemptRow[]> {
  await Promise.all(begun.map((each) => bench.activities.sendPurchase(each)));
  return bench.database.run((db) =>
    db
      .select()
      .from(attempts)
      .where(
        inArray(
          attempts.id,
          begun.map(({ attemptId }) => attemptId),
        ),
      ),
  );
}

const half = <Each>(each: Each): Each[] => Array.from({ length: SILENT / 2 }, () => each);

/** One run of the reconciler after some silence. @returns its result, and the number of calls of each endpoint. */
async function reconcile(endpoints: readonly Endpoint[]) {
  await bench.pass(10 * MINUTE);
  const calls = () => Promise.all(endpoints.map(async (endpoint) => (await bench.admin.requests(endpoint)).length));
  const before = await calls();
  const result = await bench.activities.reconcileSilentWork();
  const after = await calls();
  return { result, calls: after.map((count, index) => count - before[index]!) };
}

/** Judges the pending rows of the inbox as the relay does. @returns the number of attempts in each state. */
async function statesOnceJudged(ids: readonly string[]) {
  const now = new Date(Date.now() + MINUTE);
  const rows = await bench.database.run((db) => takeInbox(db, { batch: 100, leaseMs: MINUTE }));
  for (const row of rows)
    await judgeReport(bench.database, row, readReport(bench.keyRing, row), now, MINUTE, () => Buffer.alloc(0));
  const found = await bench.database.run((db) =>
    db
      .select()
      .from(attempts)
      .where(inArray(attempts.id, [...ids])),
  );
  return Object.fromEntries([...Map.groupBy(found, ({ state }) => state)].map(([state, all]) => [state, all.length]));
}

/** Some work with an answer and some without. @returns the result of a run, and the calls of each endpoint. */
async function reconcileSome(kind: Kind, endpoints: readonly Endpoint[]) {
  const accepted = await accept(kind, SILENT / 2);
  const lost = await lose(kind, await Promise.all(Array.from({ length: SILENT / 2 }, kind.begin)));
  expect(accepted.map(({ state, serviceId }) => [state, serviceId === null])).toEqual(half(['processing', false]));
  expect(lost.map(({ state, serviceId }) => [state, serviceId])).toEqual(half(['unknown', null]));
  for (const [nth, { serviceId }] of accepted.slice(0, 3).entries()) await kind.decide(serviceId!, nth);

  const { result, calls } = await reconcile(endpoints);
  expect(result).toEqual({ lookedUp: SILENT, newReports: kind.newReports + SILENT / 2 });
  expect(await statesOnceJudged([...accepted, ...lost].map(({ id }) => id))).toEqual({
    completed: 3 + SILENT / 2,
    processing: 3,
  });
  // Looked up once, so the next run has nothing to do.
  expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 0, newReports: 0 });
  return calls;
}

describe('the reconciler', () => {
  it('looks up many silent VPN subscriptions with one call per page of their list, and stores new reports', async () => {
    bench = await ActivityBench.start();
    expect(await reconcileSome(SUBSCRIPTIONS, ['listVpnSubscriptions', 'getVpnSubscription'])).toEqual([1, 0]);
  });

  it.each(['top-ups', 'cancellations'])('looks up silent %s one by one, and stores new reports', async (noun) => {
    bench = await ActivityBench.start();
    const kind = KINDS[noun]!;
    expect((await reconcileSome(kind, kind.single)).every((calls) => calls > 0)).toBe(true);
  });

  it('looks up VPN subscriptions one by one when the list shows several candidates', async () => {
    bench = await ActivityBench.start();
    const begun = await Promise.all(Array.from({ length: SILENT }, SUBSCRIPTIONS.begin));
    const row = await bench.database.run((db) => findAttemptById(db, begun[0]!.attemptId));
    const lost = await lose(SUBSCRIPTIONS, begun);
    // A purchase outside of the product with the reference of an attempt.
    await bench.admin.dialect('reusable_references');
    const wanted = { idempotencyKey: randomUUID(), vpnPlanId: 301, reference: ownReference(row) };
    const body = vpnOrderRequestBytes({ ...wanted, customerReference: 'C-1', customerPrice: '29.99' });
    expect(await bench.service.createVpnOrder({ ...wanted, body })).toMatchObject({ ok: true });

    const { result, calls } = await reconcile([SUBSCRIPTIONS.list]);
    expect(result).toEqual({ lookedUp: SILENT, newReports: SILENT - 1 });
    expect(calls).toEqual([2]);
    expect(await statesOnceJudged(lost.map(({ id }) => id))).toEqual({ completed: SILENT - 1, unknown: 1 });
  });

  it('also looks up the eSIM while a refund is under review', async () => {
    bench = await ActivityBench.start();
    const kind: Kind = {
      ...KINDS['cancellations']!,
      accepted: { operation: 'cancellation', outcome: 'manual_review' },
    };
    const [first] = await accept(kind, 2);
    await bench.admin.decideRefund(first!.serviceId!, 'refuse');
    const { result, calls } = await reconcile(['getEsim']);
    expect(result).toEqual({ lookedUp: 2, newReports: 1 });
    expect(calls).toEqual([2]);
    expect(
      await bench.database.run((db) => db.select().from(inbox).where(eq(inbox.subjectKind, 'cancellation'))),
    ).toMatchObject([{ event: 'refund.failed', outcome: 'failed', serviceId: first!.serviceId }]);
  });
});
