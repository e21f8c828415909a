import { Context } from '@temporalio/activity';
import { createBooksActivities } from '#activities/upkeep/books.ts';
import { createCatalogueActivities } from '#activities/upkeep/catalogue.ts';
import { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import { createWatchActivities } from '#activities/upkeep/watch.ts';
import { createWebhookActivities } from '#activities/webhooks/webhook-activities.ts';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import type { WorkerConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { Database, type Executor } from '#db/connection/database.ts';
import { Wakeups } from '#db/connection/wakeups.ts';
import { judgedProfile, newestCapabilityProfile } from '#db/service/capability-profiles.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { effectivePolicy } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import { AddressPolicy, dnsLookup } from '#outbound/webhook-address.ts';
import { WebhookSender } from '#outbound/webhook-sender.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { serviceCallObserver, unusedObserver, workFactObserver } from '#telemetry/observers.ts';
import { findRunning } from '#temporal/start-work.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import { openService } from '#upstream/service.ts';
import { DebitWatch } from '#worker/debit-watch.ts';
import { FirstPurchaseCheckWatch } from '#worker/first-purchase-check.ts';
import { gateListener, GateLoop } from '#worker/gate-loop.ts';
import { databaseGauges, retentionGauge } from '#worker/gauges.ts';

export type WorkerParts = ReturnType<typeof createWorkerParts>;

/** Opens no connection yet. */
export function createWorkerParts(config: WorkerConfig) {
  const { policy, service: serviceConfig } = config;
  const now = Date.now;
  const secrets = [serviceConfig.password, ...Object.values(config.tracing?.headers ?? {})];
  const logger = createLogger({ level: config.logLevel, name: 'worker', secrets });
  const metrics = createMetrics();
  const keyRing = new KeyRing(config.encryptionKeys);
  const wakeups = new Wakeups({
    channel: 'relay',
    url: config.database.directUrl,
    applicationName: 'relay-listen',
    logger,
  });
  const database = new Database({
    url: config.database.url,
    isPooled: config.database.isPooled,
    poolSize: config.database.poolSize,
    applicationName: 'reseller-worker',
    prepares: true,
    onConnectionError: (error) => logger.warn({ err: error }, 'a connection to PostgreSQL broke; it is replaced'),
    onRowsAdded: (queues) => wakeups.wake(queues),
    onFacts: workFactObserver(metrics, logger, now),
  });
  const { mode, email } = serviceConfig;
  const service = openService({
    ...serviceConfig,
    deadlineMs: policy.purchase.sendDeadlineMs,
    tokens: new ServiceTokenStore({ database, keyRing, environment: mode, account: email }),
    now,
    onCall: serviceCallObserver(metrics, Object.keys(ENDPOINTS), unusedObserver(metrics, logger)),
    onStoreError: (error) => logger.warn({ err: error }, 'the shared token could not be read or stored'),
  });
  metrics.refreshWith(databaseGauges(database, metrics, { webhookSilence: policy.webhookSilence, now }));
  const kept = { ...policy.sweep, deliveriesKeptMs: policy.outbound.logKeptMs };
  metrics.refreshWith(retentionGauge(database, metrics, kept, now));

  const sender = new WebhookSender({
    policy: new AddressPolicy(config.webhookAllowedAddresses),
    lookup: dnsLookup(),
    proxy: config.webhookProxy,
    now,
  });
  const onGate = gateListener(logger);
  const readings = new WalletReadings({ database, service: service.client });
  const debitWatch = new DebitWatch({ database, readings, policy: policy.purchase, logger });
  const dependencies = {
    database,
    keyRing,
    service: service.client,
    readings,
    onPurchased: (kind: WorkKind) => debitWatch.notePurchase(kind),
    sendLeaseMs: policy.purchase.sendLeaseMs,
    purchaseInForce: async (db: Executor) => (await policyInForce(db, policy, mode)).purchase,
    gate: policy.gate,
    onGate,
    onFirstSendError: ({ id: workId }: WorkRef, error: unknown) =>
      logger.warn({ workId, err: error }, 'a first send ended in an error; its workflow goes on from the stored row'),
    now,
  };
  const gateLoop = new GateLoop({
    database,
    service: service.client,
    policy: policy.gate,
    onGate,
    waiter: wakeups.subscribe('gate'),
    logger,
    now,
  });
  return {
    logger,
    metrics,
    keyRing,
    database,
    wakeups,
    gateLoop,
    firstPurchaseCheck: new FirstPurchaseCheckWatch({
      database,
      service: service.client,
      mode,
      capabilities: serviceConfig.capabilities,
      policy: policy.gate,
      deadlineMs: policy.purchase.sendDeadlineMs,
      logger,
      now,
    }),
    activities: {
      ...createWorkActivities(dependencies, config.purchasesPerSecond === undefined ? undefined : 0),
      ...createMaintenanceActivities({
        ...dependencies,
        reconcile: policy.reconcile,
        sweep: policy.sweep,
        outbound: policy.outbound,
        webhookSilence: policy.webhookSilence,
        logger,
        findRunning: (work) => findRunning(Context.current().client, work),
      }),
      ...createWatchActivities({ ...dependencies, watch: policy.watch }),
      ...createCatalogueActivities({ ...dependencies, catalogue: policy.catalogue, logger }),
      ...createBooksActivities({ ...dependencies, books: policy.books, runway: policy.runway, logger }),
    },
    webhookActivities: createWebhookActivities({
      database,
      keyRing,
      policy: policy.outbound,
      courier: (delivery) => sender.deliver(delivery),
      onTry: (result, durationMs) => {
        metrics.outboundTries.inc({ result });
        metrics.outboundDuration.observe(durationMs / 1_000);
      },
      now,
      random: Math.random,
    }),
    close: async () => {
      await debitWatch.stop();
      await wakeups.close();
      await service.close();
      await sender.close();
      await database.close();
    },
  };
}

/**
 * The configured policy, restricted to measured capabilities. Activities that spend money read it again. Capabilities
 * are measured in the sandbox only, so its profile applies in both modes.
 */
export async function policyInForce(db: Executor, configured: Policy, mode: ServiceMode): Promise<Policy> {
  const profile = await newestCapabilityProfile(db, 'sandbox');
  return effectivePolicy(configured, profile && judgedProfile(profile), mode);
}
