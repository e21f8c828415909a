import { randomBytes, randomUUID } from 'node:crypto';
import { createBooksActivities } from '#activities/upkeep/books.ts';
import { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { acceptOrder } from '#fulfilment/accept/order.ts';
import { createLogger } from '#telemetry/logger.ts';
import type { ServiceClient } from '#upstream/client.ts';

const PACKAGE = 1_001;
const PRICE = { amount: '2.40', currency: 'USD' } as const;
/** No limit is reached, but all are looked at. */
const HIGH = '1000000000';

/** Our activities in this process, on a database of its own, with a service that completes each order at once. */
export function openActivities(database: Database) {
  const dependencies = {
    database,
    keyRing: new KeyRing([{ id: 'bench', key: randomBytes(32) }]),
    service: instantService(),
    sendLeaseMs: DEFAULT_POLICY.purchase.sendLeaseMs,
    purchaseInForce: async () => DEFAULT_POLICY.purchase,
    gate: { ...DEFAULT_POLICY.gate, spendLimit: { amount: HIGH, currency: PRICE.currency } },
    now: Date.now,
  };
  const logger = createLogger({ level: 'silent', name: 'bench' });
  const work = createWorkActivities(dependencies);
  const maintenance = createMaintenanceActivities({
    ...dependencies,
    reconcile: DEFAULT_POLICY.reconcile,
    sweep: DEFAULT_POLICY.sweep,
    webhookSilence: DEFAULT_POLICY.webhookSilence,
    logger,
    outbound: DEFAULT_POLICY.outbound,
    findRunning: async (pieces) => new Set(pieces.map(({ id }) => id)),
  });
  const books = createBooksActivities({
    ...dependencies,
    books: DEFAULT_POLICY.books,
    runway: DEFAULT_POLICY.runway,
    logger,
  });
  return {
    /** Accepts an order and stores its attempt. @returns a function that claims and sends it. */
    prepare: async (): Promise<() => Promise<void>> => {
      const order = { kind: 'order', id: newId('order') } as const;
      const unset = { encryptedDeviceImei: null, maxPrice: null, deadlineAt: null };
      await database.transaction((tx) =>
        acceptOrder(
          tx,
          {
            id: order.id,
            apiKeyId: 'key_bench',
            externalOrderId: `bench-${randomUUID()}`,
            packageId: PACKAGE,
            metadata: {},
            ...unset,
          },
          new Date(),
        ),
      );
      const { attempt } = await work.beginWork({ work: order });
      return async () => {
        await work.sendPurchase({ work: order, attemptId: attempt.id });
      };
    },
    sweep: async () => maintenance.requestIdleWork(),
    reconcileBooks: async () => books.reconcileBooks({ runId: randomUUID() }),
  };
}

/** The service without a network: what is measured is ours. */
function instantService(): ServiceClient {
  const at = new Date().toISOString();
  const calls = {
    listPackages: async () => ({
      ok: true,
      value: {
        complete: true,
        items: [
          {
            id: PACKAGE,
            name: 'Bench',
            countries: ['ES'],
            available: true,
            price_for_reseller: PRICE.amount,
            currency: PRICE.currency,
          },
        ],
      },
    }),
    createOrder: async ({ reference }: { readonly reference: string }) => {
      const id = `so_bench_${randomUUID()}`;
      return {
        ok: true,
        value: {
          id,
          external_order_id: reference,
          package_id: PACKAGE,
          status: 'completed',
          esim_id: `se_${id}`,
          price_for_reseller: PRICE.amount,
          currency: PRICE.currency,
          created_at: at,
        },
      };
    },
    getWallet: async () => ({ ok: true, value: { balance: HIGH, currency: PRICE.currency } }),
    listWalletTransactions: async () => ({ ok: true, value: { items: [], complete: true } }),
  };
  return new Proxy(calls, {
    get: (target, name) => {
      const call: unknown = Reflect.get(target, name);
      if (call === undefined) throw new Error(`the activities call ${String(name)}, which is not provided here`);
      return call;
    },
  }) as unknown as ServiceClient;
}
