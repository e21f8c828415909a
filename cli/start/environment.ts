import type { DevelopmentSecrets } from '#cli/data-folder/development-secrets.ts';
import type { Ports } from '#cli/start/settings.ts';
import { presentOf, type Environment } from '#config/environment.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';

interface Layout {
  readonly ports: Ports;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Undefined: our own simulator. */
  readonly serviceBaseUrl?: string;
  readonly simulatorData: string;
}

export type ProductEnvironments = Readonly<Record<'api' | 'worker' | 'codec' | 'simulator', Environment>>;

export const SIMULATOR_EMAIL = 'reseller@example.com';

/** The C library keeps an arena for each thread: about 50 MB in the worker. See also `NODE_ARGUMENTS`. */
const MEMORY = { MALLOC_ARENA_MAX: '2' } as const;

const LOOPBACK = '127.0.0.0/8,::1/128';

/** Keys, secrets and policy of the caller replace the generated ones. Addresses and ports of this run replace both. */
export function productEnvironments(
  layout: Layout,
  secrets: DevelopmentSecrets,
  environment: Environment,
): ProductEnvironments {
  const { ports } = layout;
  const ownService = {
    SERVICE_BASE_URL: `http://127.0.0.1:${ports.simulator}${BASE_PATH}`,
    SERVICE_EMAIL: SIMULATOR_EMAIL,
    SERVICE_PASSWORD: secrets.simulator_password,
  };
  const common = {
    ...MEMORY,
    ENCRYPTION_KEYS: secrets.encryption_keys,
    SERVICE_WEBHOOK_SECRETS: secrets.webhook_secret,
    // Receivers of event webhooks run on this machine, too.
    ...(layout.serviceBaseUrl === undefined ? { WEBHOOK_ALLOWED_ADDRESSES: LOOPBACK } : {}),
    ...presentOf(environment),
    DATABASE_URL: layout.databaseUrl,
    // The caller's direct address and password belong to the caller's database.
    ...(layout.databaseUrl === environment['DATABASE_URL'] ? {} : { DATABASE_DIRECT_URL: '', DATABASE_PASSWORD: '' }),
    TEMPORAL_ADDRESS: layout.temporalAddress,
    ...(layout.serviceBaseUrl === undefined ? ownService : { SERVICE_BASE_URL: layout.serviceBaseUrl }),
  };
  return {
    api: { ...common, API_PORT: String(ports.api) },
    worker: { ...common, WORKER_PROBE_PORT: String(ports.worker) },
    codec: {
      ...common,
      CODEC_PORT: String(ports.codec),
      CODEC_ALLOWED_ORIGIN: [
        environment['CODEC_ALLOWED_ORIGIN'],
        `http://127.0.0.1:${ports.temporalUi}`,
        `http://localhost:${ports.temporalUi}`,
      ]
        .filter(Boolean)
        .join(','),
    },
    simulator: {
      ...MEMORY,
      // The simulator's own variable overrides the product's prefix.
      ...presentOf({ SIMULATOR_HEADER_PREFIX: environment['SERVICE_HEADER_PREFIX'] }),
      ...presentOf(environment),
      SIMULATOR_PORT: String(ports.simulator),
      SIMULATOR_DATA: layout.simulatorData,
      SIMULATOR_EMAIL,
      SIMULATOR_PASSWORD: secrets.simulator_password,
      SIMULATOR_WEBHOOK_URL: `http://127.0.0.1:${ports.api}/webhooks/service`,
      SIMULATOR_WEBHOOK_SECRET: firstSecret(common.SERVICE_WEBHOOK_SECRETS),
    },
  };
}

/** `secret@until` marks a replaced secret that is accepted until then. */
function firstSecret(list: string): string {
  const entries = list.split(',').map((entry) => entry.trim());
  return entries.find((entry) => !entry.includes('@')) ?? entries[0]?.split('@', 1)[0] ?? '';
}
