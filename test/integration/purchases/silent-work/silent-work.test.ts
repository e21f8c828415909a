import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { takeInbox } from '#db/queues/relay-queues.ts';
import { attempts, inbox } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import type { Capability } from '#domain/service/capability-profile.ts';
import { ownReference } from '#fulfilment/purchase/listing.ts';
import { judgeReport } from '#fulfilment/reports/judge-report.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { topupRequestBytes, vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
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
  readonly capability: Capability;
  /** The calls of a single look-up with a known id. */
  readonly single: readonly Endpoint[];
  readonly begin: () => Promise<AttemptRef>;
  /** Accepted, and then without any report. */
  readonly accepted: Behaviour;
  /** The service decides without a webhook. @param nth from 0. */
  readonly decide: (serviceId: string, nth: number) => Promise<void>;
  /** New reports about six accepted items, three of them decided. */
  readonly newReports: number;
  /** A purchase outside of the product that resembles an attempt shortly before or after its send. */
  readonly double: {
    readonly when: 'before' | 'after';
    readonly make: (attempt: AttemptRow) => Promise<{ readonly ok: boolean }>;
  };
  /** New reports about that one. */
  readonly doubled: number;
}

const key = () => ({ idempotencyKey: randomUUID() });
const KINDS: Readonly<Record<string, Kind>> = {
  'top-ups': {
    send: 'createTopup',
    list: 'listTopups',
    capability: 'topup_list',
    single: ['getTopup'],
    begin: () => bench.beginTopup(),
    accepted: { operation: 'topup', outcome: 'stay_processing' },
    decide: (id) => bench.admin.completeTopup(id),
    newReports: 3,
    double: {
      when: 'after',
      make: ({ serviceEsimId }) => {
        const wanted = { esimId: serviceEsimId!, packageId: 1001 };
        return bench.service.createTopup({ ...key(), ...wanted, body: topupRequestBytes(wanted) });
      },
    },
    doubled: 0,
  },
  'VPN subscriptions': {
    send: 'createVpnOrder',
    list: 'listVpnSubscriptions',
    capability: 'vpn_subscription_list',
    single: ['getVpnSubscription'],
    begin: () => bench.beginSubscription(),
    accepted: { operation: 'vpn', outcome: 'stay_processing' },
    decide: (id) => bench.admin.completeSubscription(id),
    newReports: 3,
    double: {
      when: 'after',
      make: async (attempt) => {
        await bench.admin.dialect('reusable_references');
        const wanted = { vpnPlanId: 301, reference: ownReference(attempt) };
        const body = vpnOrderRequestBytes({ ...wanted, customerReference: 'C-1', customerPrice: '29.99' });
        return bench.service.createVpnOrder({ ...key(), ...wanted, body });
      },
    },
    doubled: 0,
  },
  cancellations: {
    send: 'cancelEsim',
    list: 'listRefunds',
    capability: 'refund_list',
    single: ['getRefund', 'getEsim'],
    begin: () => bench.beginCancellation(),
    accepted: { operation: 'cancellation', outcome: 'accepted', delay_ms: 30 * DAY },
    decide: (id, nth) => bench.admin.decideRefund(id, nth === 0 ? 'fail' : 'complete'),
    // Each reports once that its eSIM is cancelled.
    newReports: 6,
    double: {
      when: 'before',
      make: async ({ serviceEsimId }) => {
        await bench.admin.nextPurchases({ operation: 'cancellation', outcome: 'refused' });
        return bench.service.cancelEsim({ ...key(), esimId: serviceEsimId! });
      },
    },
    // A single look-up of the eSIM reports that it is cancelled.
    doubled: 1,
  },
};
const kinds = Object.entries(KINDS);

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
    await judgeReport(bench.database, row, readReport(bench.keyRing, row), now, {
      leaseMs: MINUTE,
      encryptAccess: () => Buffer.alloc(0),
    });
  const found = await bench.database.run((db) =>
    db
      .select()
      .from(attempts)
      .where(inArray(attempts.id, [...ids])),
  );
  return Object.fromEntries([...Map.groupBy(found, ({ state }) => state)].map(([state, all]) => [state, all.length]));
}

describe('the reconciler', () => {
  it.each(kinds)(
    'looks up many silent %s with one call per page of their list, and stores new reports in the inbox',
    async (_noun, kind) => {
      bench = await ActivityBench.start();
      const accepted = await accept(kind, SILENT / 2);
      const lost = await lose(kind, await Promise.all(Array.from({ length: SILENT / 2 }, kind.begin)));
      expect(accepted.map(({ state, serviceId }) => [state, serviceId === null])).toEqual(half(['processing', false]));
      expect(lost.map(({ state, serviceId }) => [state, serviceId])).toEqual(half(['unknown', null]));
      for (const [nth, { serviceId }] of accepted.slice(0, 3).entries()) await kind.decide(serviceId!, nth);

      const { result, calls } = await reconcile([kind.list, ...kind.single]);
      expect(result).toEqual({ lookedUp: SILENT, newReports: kind.newReports + SILENT / 2 });
      expect(calls).toEqual([1, ...kind.single.map(() => 0)]);
      expect(await statesOnceJudged([...accepted, ...lost].map(({ id }) => id))).toEqual({
        completed: 3 + SILENT / 2,
        processing: 3,
      });
      // Looked up once, so the next run has nothing to do.
      expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 0, newReports: 0 });
    },
  );

  it.each(kinds)('looks up %s one by one when the list shows several candidates', async (_noun, kind) => {
    bench = await ActivityBench.start();
    const begun = await Promise.all(Array.from({ length: SILENT }, kind.begin));
    const row = await bench.database.run((db) => findAttemptById(db, begun[0]!.attemptId));
    const before = kind.double.when === 'before' ? await kind.double.make(row) : undefined;
    const lost = await lose(kind, begun);
    expect(before ?? (await kind.double.make(row))).toMatchObject({ ok: true });

    const { result, calls } = await reconcile([kind.list]);
    expect(result).toEqual({ lookedUp: SILENT, newReports: SILENT - 1 + kind.doubled });
    expect(calls).toEqual([2]);
    expect(await statesOnceJudged(lost.map(({ id }) => id))).toEqual(
      kind.doubled === 1 ? { completed: SILENT } : { completed: SILENT - 1, unknown: 1 },
    );
  });

  it.each(kinds)('looks up silent %s one by one when the service has no list of them', async (_noun, kind) => {
    bench = await ActivityBench.start({ capabilities: { [kind.capability]: false } });
    await accept(kind, SILENT);
    const { result, calls } = await reconcile([kind.list, ...kind.single]);
    expect(result).toMatchObject({ lookedUp: SILENT });
    expect(calls).toEqual([0, ...kind.single.map(() => SILENT)]);
  });

  it.each(kinds)('looks up silent %s one by one when their list cannot be read', async (_noun, kind) => {
    bench = await ActivityBench.start();
    await accept(kind, SILENT);
    await bench.admin.onRequest(kind.list, { kind: 'server_error' });
    const { result, calls } = await reconcile([kind.list, ...kind.single]);
    expect(result).toMatchObject({ lookedUp: SILENT });
    expect(calls).toEqual([1, ...kind.single.map(() => SILENT)]);
  });

  it('also looks up the eSIM while a refund is under review', async () => {
    bench = await ActivityBench.start();
    const cancellations = KINDS['cancellations']!;
    const [first] = await accept(
      { ...cancellations, accepted: { operation: 'cancellation', outcome: 'manual_review' } },
      SILENT,
    );
    await bench.admin.decideRefund(first!.serviceId!, 'refuse');
    const { result, calls } = await reconcile(['listRefunds', 'getEsim']);
    expect(result).toEqual({ lookedUp: SILENT, newReports: 1 });
    expect(calls).toEqual([1, SILENT]);
    expect(
      await bench.database.run((db) => db.select().from(inbox).where(eq(inbox.subjectKind, 'cancellation'))),
    ).toMatchObject([{ event: 'refund.failed', outcome: 'failed', serviceId: first!.serviceId }]);
  });
});
