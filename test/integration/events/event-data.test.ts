import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { findWebhookEndpoint } from '#db/events/webhook-endpoints.ts';
import {
  announcements,
  esims,
  events,
  gateWallet,
  journal,
  orderBatches,
  refunds,
  vpnSubscriptions,
} from '#db/schema.ts';
import { workTable, readWork } from '#db/work/rows.ts';
import { REFUND_STATUSES } from '#domain/cancellation/refund.ts';
import { announcedStatuses, eventTypes } from '#domain/events/event-types.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { ENDS_WITHOUT_EFFECT, mayFollow, statusesOf } from '#domain/work/lifecycle.ts';
import { announceDisabled } from '#fulfilment/event-webhooks/record-try.ts';
import { storeBalance } from '#fulfilment/gate/account.ts';
import {
  announceExpiringEsims,
  announceExpiringSubscriptions,
  announceLowData,
} from '#fulfilment/upkeep/esim-watch.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { noteRunway } from '#fulfilment/upkeep/runway.ts';
import { changeWork } from '#fulfilment/work/change.ts';
import { announceDoubt, announceRefund } from '#fulfilment/work/events.ts';
import { storeSubscriptionReport } from '#fulfilment/work/subscription.ts';
import { eventEnvelope } from '#outbound/event-message.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { recordCatalogue, SAMPLE_PACKAGE, SAMPLE_PLAN } from '#test/support/work/catalogue.ts';
import { IDS, type Letter, LETTERS, writeListedRows } from '#test/support/work/listed-rows.ts';
import { problemsOfEvent } from '#test/support/work/made-up-events.ts';

const NOW = new Date(TEST_NOW);
const HOUR = 3_600_000;
const SUBJECT: Readonly<Record<WorkKind, Readonly<Record<Letter, string>>>> = {
  order: IDS.order,
  topup: IDS.topup,
  vpn_subscription: IDS.vpn,
  cancellation: IDS.cancellation,
};
const EUR = (amount: string) => ({ amount, currency: 'EUR' });
const esimOf = (letter: Letter) => ({ id: IDS.esim[letter], orderId: IDS.order[letter] });

const api = await startTestApi();
await writeListedRows(api);
// These were written directly.
await api.database.run((db) => db.delete(events));
afterAll(() => api[Symbol.asyncDispose]());

/** Sets each status of work in turn, with all optional data (A) and without (B). */
async function workGoesOn(kind: WorkKind): Promise<void> {
  const table = workTable(kind);
  for (const letter of LETTERS) {
    const id = SUBJECT[kind][letter];
    const charged = { chargedAmount: '3.20', chargedCurrency: 'USD' };
    const optionalData =
      letter === 'A'
        ? ({ failureClass: 'timeout', attentionReason: 'outcome_unknown', ...charged } as const)
        : { failureClass: null, attentionReason: null };
    for (const status of announcedStatuses(kind)) {
      const from = statusesOf(kind).find((each) => each !== status && mayFollow(kind, each, status)) ?? status;
      await api.database.transaction(async (tx) => {
        await tx.update(table).set({ status: from }).where(eq(table.id, id));
        // Each end of its only order ends the batch anew.
        await tx.update(orderBatches).set({ completed: 0, failed: 0, abandoned: 0, completedAt: null });
        await changeWork(tx, { kind, id }, await readWork(tx, { kind, id }), { set: optionalData, status }, NOW);
      });
    }
    await api.database.transaction(async (tx) => {
      await tx.update(table).set({ status: ENDS_WITHOUT_EFFECT[kind] }).where(eq(table.id, id));
      await announceDoubt(tx, { kind, id }, 'contradiction', NOW);
    });
  }
}

async function subscriptionIsRenewed(): Promise<void> {
  const bought = { status: 'active', completedAt: NOW, expiresAt: NOW, endedAs: null } as const;
  await api.database.transaction(async (tx) => {
    await tx.update(vpnSubscriptions).set(bought).where(eq(vpnSubscriptions.id, IDS.vpn.A));
    await storeSubscriptionReport(tx, IDS.vpn.A, { expiresAt: new Date(TEST_NOW + 24 * HOUR).toISOString() }, NOW);
  });
}

async function refundGoesOn(): Promise<void> {
  for (const letter of LETTERS) {
    for (const status of REFUND_STATUSES) {
      await api.database.transaction(async (tx) => {
        await tx
          .update(refunds)
          .set({ status, ...(letter === 'A' && { amount: '3.2', currency: 'USD' }) })
          .where(eq(refunds.id, IDS.refund[letter]));
        await announceRefund(tx, IDS.cancellation[letter], NOW);
      });
    }
  }
}

async function thingsRunOut(): Promise<void> {
  await api.database.transaction(async (tx) => {
    const ends = { expiresAt: new Date(TEST_NOW + HOUR) };
    await tx.update(esims).set(ends).where(eq(esims.id, IDS.esim.A));
    await tx
      .update(vpnSubscriptions)
      .set({ ...ends, status: 'active' })
      .where(eq(vpnSubscriptions.id, IDS.vpn.A));
    await announceExpiringEsims(tx, DEFAULT_POLICY.watch, NOW, undefined);
    await announceExpiringSubscriptions(tx, DEFAULT_POLICY.watch, NOW, undefined);
    const low = async (letter: Letter, usedMb: number, measuredAt: Date | null) => {
      const reading = { totalMb: 1_024, readAt: NOW, usedMb, measuredAt };
      await announceLowData(tx, esimOf(letter), reading, DEFAULT_POLICY.watch, NOW);
    };
    await low('A', 900, NOW);
    // More than the allowance was used, without a time of measurement.
    await low('B', 1_100.5, null);
  });
}

async function esimsAreUsed(): Promise<void> {
  const times = { installedAt: NOW, activatedAt: NOW, expiresAt: NOW };
  const usage = { usedMb: 1_024, totalMb: 1_024, measuredAt: null, readAt: NOW };
  await api.database.transaction(async (tx) => {
    const reading = { state: { status: 'consumed', ...times }, usage, readAt: NOW };
    await recordEsim(tx, esimOf('A'), reading, NOW);
    // Only statuses, without times and data.
    const bare = { installedAt: null, activatedAt: null, expiresAt: null };
    for (const status of ['consumed', 'expired']) {
      await recordEsim(tx, esimOf('B'), { state: { status, ...bare }, readAt: NOW }, NOW);
    }
  });
}

/** New, changed, unavailable, available and removed items. */
async function catalogueChanges(): Promise<void> {
  const states = [
    [{ id: 2 }],
    [{ id: 1 }, { id: 2 }],
    [
      { id: 1, available: false },
      { id: 2, price: EUR('9') },
    ],
    [{ id: 1 }],
  ];
  for (const [index, state] of states.entries()) {
    const at = new Date(TEST_NOW + index);
    const packages = state.map((each) => ({ ...SAMPLE_PACKAGE, ...each }));
    const plans = state.map((each) => ({ ...SAMPLE_PLAN, ...each }));
    await recordCatalogue(api.database, 'packages', packages, at);
    await recordCatalogue(api.database, 'vpn_plans', plans, at);
  }
}

async function walletFallsAndRises(): Promise<void> {
  const low = EUR('50');
  await api.database.transaction((tx) => tx.insert(gateWallet).values({ readsStarted: 9 }).onConflictDoNothing());
  const readings = [
    ['41.2', low],
    ['60', low],
    ['41.2', low],
    ['41.2', undefined],
  ] as const;
  for (const [index, [balance, threshold]] of readings.entries()) {
    await api.database.transaction((tx) => storeBalance(tx, index + 1, EUR(balance), threshold, NOW));
  }
  const sale = { direction: 'debit', currency: 'EUR', causeKind: 'attempt' } as const;
  const sales = Array.from({ length: 20 }, (_, day) => ({
    ...sale,
    amount: day % 2 === 0 ? '9.00' : '21.00',
    causeId: `att_${day}`,
    recordedAt: new Date(TEST_NOW - (day + 0.5) * 24 * HOUR),
  }));
  await api.database.run((db) => db.insert(journal).values(sales));
  for (const balanceAmount of ['20', '900']) {
    await api.database.transaction(async (tx) => {
      await tx.update(gateWallet).set({ balanceAmount, balanceCurrency: 'EUR', readAt: NOW });
      await noteRunway(tx, DEFAULT_POLICY.runway, TEST_NOW);
    });
  }
}

async function endpointIsTestedAndDisabled(): Promise<void> {
  const caller = await api.caller();
  const id = (await postOnce(caller, '/v1/webhook-endpoints', { url: 'https://shop.example.com/hook' })).textAt('id');
  expect((await postOnce(caller, `/v1/webhook-endpoints/${id}/test`, {})).status).toBe(202);
  await api.database.transaction(async (tx) => {
    const row = await findWebhookEndpoint(tx, id, undefined);
    if (row === undefined) throw new Error('the endpoint is not there');
    await announceDisabled(tx, row, { reason: 'gone', detail: 'it answered 410' }, NOW);
    await announceDisabled(tx, { ...row, failingSince: NOW }, { reason: 'failing', detail: 'it answered 503' }, NOW);
  });
}

describe('the data of a recorded event', () => {
  it('has exactly the fields that the description defines, for every event type', async () => {
    for (const kind of WORK_KINDS) await workGoesOn(kind);
    await refundGoesOn();
    await subscriptionIsRenewed();
    await thingsRunOut();
    await esimsAreUsed();
    await walletFallsAndRises();
    await catalogueChanges();
    await endpointIsTestedAndDisabled();

    const rows = await api.database.run((db) => db.select().from(events).orderBy(events.sequence));
    expect(rows.flatMap((row) => problemsOfEvent(eventEnvelope(row)))).toEqual([]);
    const announced = new Set<string>(rows.map(({ type }) => type));
    expect(eventTypes.filter((type) => !announced.has(type))).toEqual([]);

    const dataOf = (type: string) => rows.find((row) => row.type === type)?.data;
    const order = { order_id: IDS.order.A, external_order_id: 'order-A' };
    expect(dataOf('esim.expiring')).toEqual({
      ...order,
      expires_at: new Date(TEST_NOW + HOUR).toISOString(),
      threshold_seconds: 86_400,
    });
    expect(dataOf('esim.data_low')).toMatchObject(order);
    expect(dataOf('vpn_subscription.expiring')).toMatchObject({ external_subscription_id: 'vpn-A' });
    expect(dataOf('order.completed')).toMatchObject({
      external_order_id: 'order-A',
      charged: { amount: '3.20', currency: 'USD' },
    });
    expect(dataOf('cancellation.completed')).not.toHaveProperty('charged');
    expect(await api.database.run((db) => db.select().from(announcements))).toHaveLength(12);
  });
});
