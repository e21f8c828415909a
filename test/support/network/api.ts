import { createHmac, randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { KeyCache } from '#api/access/authentication.ts';
import { InFlight } from '#api/access/limits.ts';
import { allOperations, createApp } from '#api/app.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { startServer } from '#api/http/server.ts';
import { WebhookSecretCache } from '#api/service-webhooks/webhook-secret-cache.ts';
import { Waits } from '#api/waits/waits.ts';
import { apiKeyMode } from '#crypto/generated-secrets.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { type ApiScope, apiScopes, findApiKey, type NewApiKey } from '#db/access/api-keys.ts';
import type { Database } from '#db/connection/database.ts';
import { requireCurrentSchema } from '#db/connection/migrate.ts';
import { Wakeups } from '#db/connection/wakeups.ts';
import { lastPosition, publishEvents } from '#db/events/event-log.ts';
import { listEvents } from '#db/events/event-queries.ts';
import { readWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { readConditions } from '#fulfilment/readiness/conditions.ts';
import { InboxWriter } from '#fulfilment/reports/inbox-writer.ts';
import { EventTail } from '#outbound/event-tail.ts';
import { AddressPolicy } from '#outbound/webhook-address.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { unusedObserver } from '#telemetry/observers.ts';
import { storeKey } from '#test/support/api/keys.ts';
import { type HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { DEFAULT_HEADER_PREFIX, type ServicePackage } from '#upstream/contract.ts';

export const WEBHOOK_SECRET = 'whsec_of_the_test';

/** The address under which the API is said to be reached. */
export const PUBLIC_URL = 'https://fulfilment.test/prefix';

export const SHARE_LINK_URL = 'https://esim.example.com';

/** 2030-01-31T12:00:00Z, the initial time of the API's clock. */
export const TEST_NOW = Date.UTC(2030, 0, 31, 12);

export type TestApi = Awaited<ReturnType<typeof startTestApi>>;

export interface Delivery {
  readonly body: unknown;
  readonly id?: string;
  readonly event?: string;
  readonly secret?: string;
  /** Unix seconds as text. The default is the API's time. */
  readonly timestamp?: string;
  /** Prefix of its header names. The default is `X-Service`. */
  readonly prefix?: string;
  /** Replaces headers. The value undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export const TEST_PACKAGES: readonly ServicePackage[] = [
  {
    id: 101,
    name: 'Europe 5 GB',
    countries: ['DE', 'FR'],
    data_mb: 5_120,
    validity_days: 30,
    price_for_reseller: '9.80',
    currency: 'EUR',
    available: true,
  },
  {
    id: 103,
    name: 'World unlimited',
    countries: [],
    data_mb: null,
    validity_days: 7,
    price_for_reseller: '31',
    currency: 'EUR',
    available: false,
  },
  {
    id: 102,
    name: 'Japan 1 GB',
    countries: ['JP'],
    data_mb: 1_024,
    validity_days: 7,
    price_for_reseller: '3.455',
    currency: 'EUR',
    available: true,
  },
];

const NOT_ASKED = { ok: false, kind: 'failure', failure: 'not_sent', detail: 'No service is there.' } as const;
const TEST_PLANS = [
  { id: 7, name: 'VPN, one month', duration_days: 30, price_for_reseller: '3.20', currency: 'EUR', available: true },
];

export const idleService: ApiDependencies['service'] = {
  listPackages: async () => ({ ok: true, status: 200, value: { items: TEST_PACKAGES, complete: true } }),
  listPublicPackages: async () => ({ ok: false, kind: 'unsupported', capability: 'public_packages' }),
  listTopupOptions: async () => ({ ok: true, status: 200, value: { items: TEST_PACKAGES, complete: true } }),
  listVpnPlans: async () => ({ ok: true, status: 200, value: { items: TEST_PLANS, complete: true } }),
  getWallet: async () => ({ ok: true, status: 200, value: { balance: '1250', currency: 'EUR' } }),
  getLatestUpdate: async ({ currentVersion, channel }) => ({
    ok: true,
    status: 200,
    value: { latest_version: '2.4.1', update_available: currentVersion !== '2.4.1', channel },
  }),
  getEsim: async () => NOT_ASKED,
  simulateEsim: async () => ({ ok: false, kind: 'unsupported', capability: 'sandbox_simulation' }),
  getEsimUsage: async () => ({ ok: false, kind: 'unsupported', capability: 'esim_usage' }),
  findTopupsOfEsim: async () => ({ ok: false, kind: 'unsupported', capability: 'topup_list' }),
  listWalletTransactions: async () => ({ ok: false, kind: 'unsupported', capability: 'wallet_transactions' }),
  createWebhookSecret: async () => ({ ok: false, kind: 'unsupported', capability: 'webhook_secret' }),
  rotateWebhookSecret: async () => ({ ok: false, kind: 'unsupported', capability: 'webhook_secret' }),
};

/**
 * Starts the API with real HTTP on its own empty database. The test defines the service.
 *
 * @param openOwn opens a separate connection of the API to the database.
 */
export async function startTestApi(
  overrides: Partial<ApiDependencies> = {},
  openOwn?: (databaseUrl: string) => Database,
) {
  let wakeUps = 0;
  const opened = await openTestDatabase({ onRowsAdded: () => (wakeUps += 1) });
  const { database } = opened;
  const own = openOwn?.(opened.url);
  const keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 7) }]);
  const clock = { now: TEST_NOW };
  const log: string[] = [];
  const logger = createLogger(
    { level: 'debug', name: 'api', secrets: [WEBHOOK_SECRET] },
    { write: (line) => void log.push(line) },
  );
  const usual = own ?? database;
  const metrics = createMetrics({ processMetrics: false });
  // Only the test wakes it: the poll interval is longer than any test.
  const tail = new EventTail({
    read: (after, limit) => database.run((db) => listEvents(db, { owner: undefined }, { after, limit })),
    lastPosition: () => database.run(lastPosition),
    wakeups: new Wakeups({ channel: 'events', url: opened.url, applicationName: 'test', logger }),
    policy: { pollMs: 600_000, pollMaxMs: 600_000 },
    logger,
  });
  await tail.open();
  const keys = new KeyCache({
    read: (prefix) => (overrides.database ?? usual).run((db) => findApiKey(db, prefix)),
    changes: new Wakeups({ channel: 'api_keys', url: opened.url, applicationName: 'test', logger }),
    now: () => clock.now,
  });
  keys.open();
  const dependencies: ApiDependencies = {
    database: usual,
    keys,
    keyRing,
    service: idleService,
    serviceMode: 'sandbox',
    tail,
    waits: new Waits({ tail, policy: DEFAULT_POLICY.waiting, metrics }),
    streams: DEFAULT_POLICY.streams,
    running: { file: new InFlight(), many: new InFlight() },
    intake: new InboxWriter(overrides.database ?? usual, keyRing),
    onUnused: unusedObserver(metrics, logger),
    headerPrefix: DEFAULT_HEADER_PREFIX,
    webhookSecrets: [{ secret: WEBHOOK_SECRET }],
    storedSecrets: new WebhookSecretCache({
      read: () =>
        usual.run((db) => readWebhookSecrets(db, keyRing, { environment: 'sandbox', now: new Date(clock.now) })),
      logger,
      now: () => clock.now,
    }),
    gate: DEFAULT_POLICY.gate,
    runway: DEFAULT_POLICY.runway,
    webhookSecretOverlapMs: 3_600_000,
    webhookToleranceMs: DEFAULT_POLICY.serviceWebhooks.toleranceMs,
    webhookTargets: { policy: new AddressPolicy(['127.0.0.0/8']), lookup: async (host) => lookUp(host) },
    endpointSecretOverlapMs: 3_600_000,
    publicUrl: () => PUBLIC_URL,
    shareLinkUrl: () => SHARE_LINK_URL,
    bodyLimitBytes: 65_536,
    rateLimits: { perMinute: undefined, failuresPerMinute: 1_000_000, sharePagesPerMinute: 1_000_000 },
    trustedProxies: [],
    readinessChecks: { database: () => database.run((db) => requireCurrentSchema(db)) },
    degraded: () => usual.run(readConditions),
    closedBecause: () => undefined,
    logger,
    metrics,
    now: () => clock.now,
    ...overrides,
  };
  const server = await startServer(createApp(dependencies), { host: '127.0.0.1', port: 0 }, 0);
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return {
    baseUrl,
    database,
    databaseUrl: opened.url,
    keyRing,
    clock,
    /** Lines of the log so far. */
    log,
    tail,
    /** Publishes recorded events as the relay does, and wakes waiting callers. */
    publish: async () => {
      await database.transaction((tx) => publishEvents(tx, 1_000));
      tail.hear('');
    },
    /** Number of wake-ups of the relay. */
    wakeUps: () => wakeUps,
    operations: allOperations(dependencies),
    /** A caller with a key that has these scopes. The default is all scopes. */
    caller: async (scopes: readonly ApiScope[] = apiScopes, limits: Omit<Partial<NewApiKey>, 'scopes'> = {}) => {
      const { key } = await storeKey(database, { ...limits, scopes }, apiKeyMode(overrides.serviceMode));
      return new HttpClient(baseUrl, { authorization: `Bearer ${key}` });
    },
    /** Sends a delivery as the service does. */
    deliver: (delivery: Delivery) => deliver(baseUrl, clock, delivery),
    [Symbol.asyncDispose]: async () => {
      await (overrides.tail ?? tail).stop();
      await tail.stop();
      await server.stop();
      await keys.close();
      await own?.close();
      await opened.drop();
    },
  };
}

export const keyOf = ({ headers }: HttpClient) => headers['authorization']?.replace('Bearer ', '') ?? '';

/** Known hosts, because tests use no name server. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'shop.example.com': ['93.184.215.14'],
  'inside.example.com': ['10.0.0.7'],
  'both.example.com': ['93.184.215.14', '169.254.169.254'],
  localhost: ['127.0.0.1'],
};

function lookUp(host: string): readonly string[] {
  const found = isIP(host) === 0 ? HOSTS[host] : [host];
  if (found === undefined) throw new Error('not known');
  return found;
}

async function deliver(baseUrl: string, clock: { now: number }, delivery: Delivery): Promise<HttpAnswer> {
  const { body, secret = WEBHOOK_SECRET } = delivery;
  const timestamp = delivery.timestamp ?? String(Math.floor(clock.now / 1_000));
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(bytes).digest('hex');
  // Header names as in the specification, so that a test fails if the product reads other names.
  const { prefix = 'X-Service' } = delivery;
  const headers: Record<string, string | undefined> = {
    [`${prefix}-Event`]: delivery.event ?? eventIn(body),
    [`${prefix}-Delivery`]: delivery.id ?? randomUUID(),
    [`${prefix}-Timestamp`]: timestamp,
    [`${prefix}-Signature`]: `v1=${signature}`,
    ...delivery.headers,
  };
  const sent = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new HttpClient(baseUrl).post('/webhooks/service', bytes, { headers: Object.fromEntries(sent) });
}

function eventIn(body: unknown): string | undefined {
  return typeof body === 'object' && body !== null && 'event' in body ? String(body.event) : undefined;
}
