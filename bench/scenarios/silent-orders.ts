import { randomBytes } from 'node:crypto';
import { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import type { ScenarioResult } from '#bench/results.ts';
import { compare } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { createProductDatabase, openDatabase } from '#bench/support/product.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { newId } from '#db/connection/ids.ts';
import { attempts } from '#db/schema.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { acceptOrder } from '#fulfilment/accept/accept-order.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { createLogger } from '#telemetry/logger.ts';
import { openService } from '#upstream/service.ts';

const SIZES = { full: { orders: 1_000 }, quick: { orders: 40 } } as const;
const AT_ONCE = 20;
const PACKAGE = 1001;
const ACCOUNT = { email: 'bench@example.com', password: 'bench-password' };
const HOUR_MS = 3_600_000;
/** A page of the list is a hundred orders, and one page more may be read than they fill. */
const RATIO_LIMIT = { full: 0.011, quick: 0.1 } as const;

/** How many calls the reconciler makes for orders that the service is silent about: with its list, and one by one. */
export async function measureSilentOrders(context: BenchContext): Promise<ScenarioResult[]> {
  const { orders } = SIZES[context.mode];
  context.say(`silent orders: calls for ${orders} of them, with a list of orders and without`);
  const ours = await callsFor(context, { orders, order_list: true });
  const peer = await callsFor(context, { orders, order_list: false });
  return [
    compare({
      id: 'silent_orders.one_by_one',
      measured: `Calls to the service in one run of the reconciler with ${orders} silent orders, where the service has a list of orders`,
      unit: 'calls',
      better: 'lower',
      ours: [ours.calls],
      peer: {
        id: 'one_by_one',
        measured: 'The same where it has none: one call for each order',
        rounds: [peer.calls],
      },
      limit: {
        of: 'ratio_to_peer',
        bound: 'at_most',
        amount: RATIO_LIMIT[context.mode],
        reason: 'A page of the list shows a hundred orders; a backlog must not use up the rate limit of the service.',
      },
      details: { run_ms: ours.ms, run_one_by_one_ms: peer.ms },
    }),
  ];
}

/** @throws Error unless the run has asked for all of them, and found what happened to half of them. */
async function callsFor(
  context: BenchContext,
  { orders, order_list }: { orders: number; order_list: boolean },
): Promise<{ calls: number; ms: number }> {
  const database = openDatabase(await createProductDatabase(context, `silent_${order_list ? 'listed' : 'single'}`));
  const simulator = await startSimulator(ACCOUNT);
  const keyRing = new KeyRing([{ id: 'bench', key: randomBytes(32) }]);
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  let calls = 0;
  const service = openService({
    baseUrl: simulator.baseUrl,
    mode: 'sandbox',
    ...ACCOUNT,
    deviceName: 'bench',
    capabilities: { ...ALL_CAPABILITIES, order_list },
    deadlineMs: DEFAULT_POLICY.purchase.sendDeadlineMs,
    tokens: new ServiceTokenStore({ database, keyRing, environment: 'sandbox', account: ACCOUNT.email }),
    now,
    onCall: () => {
      calls += 1;
    },
  });
  try {
    const admin = async (path: string, body: unknown) => {
      const answer = await fetch(`${simulator.url}/simulator${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`the simulator answered ${answer.status} to ${path}`);
    };
    const dependencies = {
      database,
      keyRing,
      service: service.client,
      sendLeaseMs: DEFAULT_POLICY.purchase.sendLeaseMs,
      purchaseInForce: async () => DEFAULT_POLICY.purchase,
      gate: DEFAULT_POLICY.gate,
      now,
    };
    const activities = createWorkActivities(dependencies);
    await admin('/behaviour', { outcome: 'stay_processing', count: orders });
    const buy = async (number: number) => {
      const work = { kind: 'order', id: newId('order') } as const;
      const order = { apiKeyId: 'bench', externalOrderId: `silent-${number}`, packageId: PACKAGE, metadata: {} };
      const unset = { encryptedDeviceImei: null, maxPrice: null, deadlineAt: null };
      await database.transaction((tx) => acceptOrder(tx, { id: work.id, ...order, ...unset }, new Date(now())));
      const { attempt } = await activities.beginWork({ work });
      await activities.sendPurchase({ work, attemptId: attempt.id });
    };
    for (let start = 0; start < orders; start += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, orders - start) }, (_, index) => buy(start + index)));
    }
    for (const id of (await soldIds(database)).slice(0, orders / 2)) await admin(`/orders/${id}/complete`, {});

    clock.aheadMs = HOUR_MS;
    const maintenance = createMaintenanceActivities({
      ...dependencies,
      reconcile: { ...DEFAULT_POLICY.reconcile, readsPerRun: orders },
      sweep: DEFAULT_POLICY.sweep,
      webhookSilence: DEFAULT_POLICY.webhookSilence,
      logger: createLogger({ level: 'silent', name: 'bench' }),
      outbound: DEFAULT_POLICY.outbound,
      findRunning: async () => new Set(),
    });
    calls = 0;
    const began = performance.now();
    const { lookedUp, newReports } = await maintenance.reconcileSilentWork();
    const ms = performance.now() - began;
    if (lookedUp !== orders || newReports !== orders / 2) {
      throw new Error(
        `of ${orders} silent orders ${lookedUp} were looked up, and ${newReports} of ${orders / 2} reports found`,
      );
    }
    return { calls, ms };
  } finally {
    await service.close();
    await simulator.close();
    await database.close();
  }
}

/** The service's ids of what was sold, from our own rows. */
async function soldIds(database: ReturnType<typeof openDatabase>): Promise<string[]> {
  const rows = await database.run((db) => db.select({ serviceId: attempts.serviceId }).from(attempts));
  return rows.flatMap(({ serviceId }) => serviceId ?? []);
}
