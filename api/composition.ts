import { KeyCache } from '#api/access/authentication.ts';
import { InFlight } from '#api/access/limits.ts';
import { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import { Waits } from '#api/waits/waits.ts';
import type { ApiConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { findApiKey } from '#db/access/api-keys.ts';
import { Database } from '#db/connection/database.ts';
import { verifyKeys } from '#db/connection/encryption-keys.ts';
import { requireCurrentSchema } from '#db/connection/migrate.ts';
import { Notifier } from '#db/connection/notifier.ts';
import { Wakeups } from '#db/connection/wakeups.ts';
import { lastPosition } from '#db/events/event-log.ts';
import { listEvents } from '#db/events/event-queries.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { readWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { readConditions } from '#fulfilment/readiness/conditions.ts';
import { InboxWriter } from '#fulfilment/reports/inbox-writer.ts';
import { EventTail } from '#outbound/event-tail.ts';
import { AddressPolicy, dnsLookup } from '#outbound/webhook-address.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { serviceCallObserver, unusedObserver, workFactObserver } from '#telemetry/observers.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import { openService } from '#upstream/service.ts';

/** For calls that a caller waits for. The API makes no purchases. */
const SERVICE_DEADLINE_MS = 10_000;

/** Opens no connection yet. The API has no connection to Temporal. */
export function createApiParts(config: ApiConfig, now: () => number = Date.now) {
  const {
    service: serviceConfig,
    database: databaseConfig,
    encryptionKeys,
    tracing,
    temporal: _,
    ...settings
  } = config;
  const secrets = [
    serviceConfig.password,
    ...config.webhookSecrets.map(({ secret }) => secret),
    ...Object.values(tracing?.headers ?? {}),
  ];
  const logger = createLogger({ level: config.logLevel, name: 'api', secrets });
  const metrics = createMetrics();
  const keyRing = new KeyRing(encryptionKeys);
  const { directUrl: url } = databaseConfig;
  const notifier = new Notifier({
    channel: 'relay',
    url,
    applicationName: 'reseller-api-notify',
    onError: (error) => logger.warn({ err: error }, 'the relay could not be notified; the notification is sent again'),
  });
  const database = new Database({
    ...databaseConfig,
    applicationName: 'reseller-api',
    onConnectionError: (error) => logger.warn({ err: error }, 'a connection to PostgreSQL broke; it is replaced'),
    onRowsAdded: (queues) => notifier.wake(queues),
    onFacts: workFactObserver(metrics, logger, now),
  });
  const { mode, email } = serviceConfig;
  const onUnused = unusedObserver(metrics, logger);
  const service = openService({
    ...serviceConfig,
    deadlineMs: SERVICE_DEADLINE_MS,
    tokens: new ServiceTokenStore({ database, keyRing, environment: mode, account: email }),
    now,
    onCall: serviceCallObserver(metrics, Object.keys(ENDPOINTS), onUnused),
    onStoreError: (error) => logger.warn({ err: error }, 'the shared token could not be read or stored'),
  });
  const storedSecrets = new WebhookSecretCache({
    read: () => database.run((db) => readWebhookSecrets(db, keyRing, { environment: mode, now: new Date(now()) })),
    logger,
    now,
  });
  const listener = new Wakeups({
    channel: 'events',
    url,
    applicationName: 'reseller-api-listen',
    logger,
    onPayload: (position) => tail.hear(position),
  });
  const keys = new KeyCache({
    read: (prefix) => database.run((db) => findApiKey(db, prefix)),
    changes: new Wakeups({ channel: 'api_keys', url, applicationName: 'reseller-api-keys', logger }),
    // The system's clock may be set back, and a reading would then be used for too long.
    now: () => performance.now(),
  });
  const tail = new EventTail({
    read: (after, limit) => database.run((db) => listEvents(db, { owner: undefined }, { after, limit })),
    lastPosition: () => database.run(lastPosition),
    wakeups: listener,
    policy: config.waiting,
    logger,
  });
  // While `closedBecause` is set, only probes and documentation are answered. The address is set once the API listens.
  const state: { closedBecause: string | undefined; address: string; stopping: boolean } = {
    closedBecause: 'The API is starting.',
    address: '',
    stopping: false,
  };
  return {
    state,
    listener,
    keys,
    dependencies: {
      ...settings,
      database,
      keys,
      keyRing,
      service: service.client,
      serviceMode: mode,
      intake: new InboxWriter(database, keyRing),
      tail,
      waits: new Waits({ tail, policy: config.waiting, metrics }),
      running: { file: new InFlight(), many: new InFlight() },
      onUnused,
      storedSecrets,
      webhookTargets: { policy: new AddressPolicy(config.webhookAllowedAddresses), lookup: dnsLookup() },
      publicUrl: () => config.publicUrl ?? state.address,
      shareLinkUrl: () => config.shareLinkUrl ?? config.publicUrl ?? state.address,
      readinessChecks: {
        api: async () => {
          if (state.closedBecause !== undefined) throw new Error(state.closedBecause);
          if (state.stopping) throw new Error('The API is stopping.');
        },
        database: () => database.run((db) => requireCurrentSchema(db)),
        // Another process may use a key that this one lacks.
        encryption: () => database.run((db) => verifyKeys(db, keyRing)),
      },
      degraded: () => database.run(readConditions),
      closedBecause: () => state.closedBecause,
      logger,
      metrics,
      now,
    },
    close: async () => {
      await tail.stop();
      await listener.close();
      await keys.close();
      await notifier.close();
      await service.close();
      await database.close();
    },
  };
}
