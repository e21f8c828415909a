import type { DevelopmentSecrets } from '#cli/start/secrets.ts';
import type { Ports } from '#cli/start/settings.ts';
import type { Environment } from '#config/environment.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';

/** Where the parts of one set-up are, ours or elsewhere. */
export interface Layout {
  readonly ports: Ports;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Undefined: our own simulator. */
  readonly serviceBaseUrl?: string;
  /** File of the simulator's state. */
  readonly simulatorData: string;
}

export type ProductEnvironments = Readonly<Record<'api' | 'worker' | 'codec' | 'simulator', Environment>>;

/** The one account that the simulator of a development set-up has. */
export const SIMULATOR_EMAIL = 'reseller@example.com';

/**
 * Beside the arguments in `part.ts`: the C library keeps an arena of freed memory for each thread, some 50 MB in the
 * worker.
 */
const MEMORY = { MALLOC_ARENA_MAX: '2' } as const;

const LOOPBACK = '127.0.0.0/8,::1/128';

/** `{base_url}` of a simulator on this machine. */
export function simulatorBaseUrl(port: number): string {
  return `http://127.0.0.1:${port}${BASE_PATH}`;
}

/**
 * The environment of each process of the product. What the caller's environment says of keys, secrets and policy goes
 * before what was generated; what this run itself decides (addresses, ports) goes before everything.
 */
export function productEnvironments(
  layout: Layout,
  secrets: DevelopmentSecrets,
  environment: Environment,
): ProductEnvironments {
  const { ports } = layout;
  const ownService = {
    SERVICE_BASE_URL: simulatorBaseUrl(ports.simulator),
    SERVICE_EMAIL: SIMULATOR_EMAIL,
    SERVICE_PASSWORD: secrets.simulator_password,
  };
  const common = {
    ...MEMORY,
    ENCRYPTION_KEYS: secrets.encryption_keys,
    SERVICE_WEBHOOK_SECRETS: secrets.webhook_secret,
    // Beside our own simulator, receivers of webhooks run on this machine as well.
    ...(layout.serviceBaseUrl === undefined ? { WEBHOOK_ALLOWED_ADDRESSES: LOOPBACK } : {}),
    ...present(environment),
    DATABASE_URL: layout.databaseUrl,
    // A direct address belongs to the caller's database, not to the embedded one.
    ...(layout.databaseUrl === environment['DATABASE_URL'] ? {} : { DATABASE_DIRECT_URL: '' }),
    TEMPORAL_ADDRESS: layout.temporalAddress,
    ...(layout.serviceBaseUrl === undefined ? ownService : { SERVICE_BASE_URL: layout.serviceBaseUrl }),
  };
  const webhookSecret = firstSecret(common.SERVICE_WEBHOOK_SECRETS);
  return {
    api: { ...common, API_PORT: String(ports.api) },
    worker: { ...common, WORKER_PROBE_PORT: String(ports.worker) },
    codec: {
      ...common,
      CODEC_PORT: String(ports.codec),
      CODEC_ALLOWED_ORIGIN: `http://127.0.0.1:${ports.temporalUi},http://localhost:${ports.temporalUi}`,
    },
    simulator: {
      ...MEMORY,
      ...ownBrand(environment),
      ...present(environment),
      SIMULATOR_PORT: String(ports.simulator),
      SIMULATOR_DATA: layout.simulatorData,
      SIMULATOR_EMAIL,
      SIMULATOR_PASSWORD: secrets.simulator_password,
      SIMULATOR_WEBHOOK_URL: `http://127.0.0.1:${ports.api}/webhooks/service`,
      SIMULATOR_WEBHOOK_SECRET: webhookSecret,
    },
  };
}

/** The newest one: `secret@until` marks those that are on their way out. */
function firstSecret(list: string): string {
  const entries = list.split(',').map((entry) => entry.trim());
  return entries.find((entry) => !entry.includes('@')) ?? entries[0]?.split('@', 1)[0] ?? '';
}

/** An empty variable counts as one that is not set. */
function present(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));
}

/** The brand in header names that the product is told to expect, unless the simulator is to have another one. */
function ownBrand({ SERVICE_HEADER_PREFIX: prefix }: Environment): Environment {
  return prefix === undefined || prefix === '' ? {} : { SIMULATOR_HEADER_PREFIX: prefix };
}
