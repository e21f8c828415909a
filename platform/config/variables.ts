import * as z from 'zod';
import { fileVariable, isSecret, secret } from '#config/secret-files.ts';
import { temporalTlsFields } from '#config/temporal-tls.ts';
import { tracingFields } from '#config/tracing.ts';
import {
  commaList,
  durationMs,
  flag,
  hostList,
  keyList,
  networkList,
  originList,
  perSecond,
  port,
  secretList,
  urlOf,
  withoutEndSlashes,
} from '#config/variable-types.ts';
import { capabilities } from '#domain/service/capability-profile.ts';
import { BASE_PATH, DEFAULT_HEADER_PREFIX, HEADER_PREFIX } from '#domain/service/service-address.ts';

/** By subject. A test compares `docs/configuration.md` with it. */
export const CONFIGURATION_FIELDS = {
  common: {
    LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  },
  database: {
    DATABASE_URL: secret(urlOf('postgres:', 'postgresql:')),
    /** Used in both addresses, if they contain none. */
    DATABASE_PASSWORD: secret(z.string().min(1).optional()),
    /** At least two: a process may read the token of the service during a transaction. */
    DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(10),
    /** No pooler in transaction mode: LISTEN needs it. */
    DATABASE_DIRECT_URL: secret(urlOf('postgres:', 'postgresql:').optional()),
  },
  temporal: {
    TEMPORAL_ADDRESS: z
      .string()
      .regex(/^[^\s:/]+:\d{1,5}$/, 'must be host:port')
      .default('127.0.0.1:7233'),
    TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
    TEMPORAL_TLS: flag(false),
    ...temporalTlsFields,
    TEMPORAL_API_KEY: secret(z.string().min(1).optional()),
  },
  secrets: {
    /** 32 bytes each; the first encrypts, all decrypt. */
    ENCRYPTION_KEYS: secret(keyList()),
  },
  service: {
    SERVICE_BASE_URL: urlOf('http:', 'https:').refine((url) => withoutEndSlashes(url).endsWith(BASE_PATH), {
      message: `must end with ${BASE_PATH} (the production base address; the sandbox's is derived from it)`,
    }),
    SERVICE_MODE: z.enum(['sandbox', 'production']).default('sandbox'),
    SERVICE_EMAIL: z.email(),
    SERVICE_PASSWORD: secret(z.string().min(1)),
    SERVICE_DEVICE_NAME: z.string().min(1).max(255).default('reseller-fulfilment'),
    SERVICE_TOKEN_DAYS: z.coerce.number().int().min(1).max(3650).optional(),
    /** Used for calls to the service; also in lower case. */
    HTTPS_PROXY: secret(z.string().optional()),
    HTTP_PROXY: secret(z.string().optional()),
    /** A domain includes its subdomains. */
    NO_PROXY: z.string().optional(),
    SERVICE_HEADER_PREFIX: z
      .string()
      .regex(
        HEADER_PREFIX,
        'must be the part of the header names before -Event, such as X-Acme: up to 40 letters, digits, hyphens and ' +
          'underscores, with a letter or digit at both ends',
      )
      .default(DEFAULT_HEADER_PREFIX),
    SERVICE_MISSING_CAPABILITIES: z
      .string()
      .default('')
      .transform(commaList)
      .pipe(z.array(z.enum(capabilities))),
  },
  api: {
    API_HOST: z.string().min(1).default('127.0.0.1'),
    API_PORT: port(3000),
    /** In addition to stored ones: `secret`, or `secret@<RFC 3339 time of its end>`. */
    SERVICE_WEBHOOK_SECRETS: secret(secretList().default([])),
    API_PUBLIC_URL: urlOf('http:', 'https:').transform(withoutEndSlashes).optional(),
    API_SHARE_LINK_URL: urlOf('http:', 'https:').transform(withoutEndSlashes).optional(),
    /** A minute for one address, in each process. */
    API_SHARE_LINK_RATE: z.coerce.number().int().min(1).max(1_000_000).default(120),
    /** `reseller doctor` checks it. */
    PUBLIC_WEBHOOK_URL: urlOf('http:', 'https:').optional(),
    /** A minute for each API key without its own limit, in each process. */
    API_RATE_LIMIT: z
      .string()
      .regex(/^(none|[1-9][0-9]{0,6})$/, 'must be how many requests a minute, such as 600, or none')
      .default('6000')
      .transform((text) => (text === 'none' ? undefined : Number(text))),
    /** A minute from one address. */
    API_FAILED_AUTHENTICATIONS: z.coerce.number().int().min(1).max(1_000_000).default(30),
    /** Their X-Forwarded-For is trusted. */
    API_TRUSTED_PROXIES: networkList().default([]),
    /** Bytes. */
    API_BODY_LIMIT: z.coerce.number().int().min(1_024).max(1_048_576).default(524_288),
  },
  deployment: {
    WORKER_DEPLOYMENT_NAME: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, 'must be up to 63 letters, digits, - and _')
      .optional(),
    WORKER_BUILD_ID: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'must be up to 100 letters, digits, ., _, + and -')
      .optional(),
  },
  worker: {
    WORKER_PROBE_HOST: z.string().min(1).default('127.0.0.1'),
    WORKER_PROBE_PORT: port(3001),
    WORKER_SHUTDOWN_GRACE: durationMs('20s'),
    /** In all workers together. */
    WORKER_PURCHASES_PER_SECOND: perSecond(),
    /** In all workers together. */
    WORKER_READS_PER_SECOND: perSecond(),
    /** Built by `node worker/build-bundle.ts FILE`. Default: the worker bundles at its start. */
    WORKFLOW_BUNDLE: z.string().min(1).optional(),
  },
  outbound: {
    WEBHOOK_ALLOWED_ADDRESSES: networkList().default([]),
    /** It decides, in our place, which addresses event webhooks may reach. */
    WEBHOOK_PROXY: secret(urlOf('http:', 'https:').optional()),
  },
  codec: {
    CODEC_HOST: z.string().min(1).default('127.0.0.1'),
    CODEC_PORT: port(8234),
    /** The only origins that may call the codec server from a browser. */
    CODEC_ALLOWED_ORIGIN: originList('http://127.0.0.1:8233,http://localhost:8233'),
    /** Any with CODEC_TOKEN. Refuses DNS rebinding: a page whose name resolves to this server. */
    CODEC_ALLOWED_HOSTS: hostList('127.0.0.1,localhost,[::1]'),
    /** Without one the codec server listens on loopback only. */
    CODEC_TOKEN: secret(z.string().min(16).optional()),
    /** The operator states that other machines cannot connect. */
    CODEC_WITHOUT_TOKEN: flag(false),
  },
  temporalUi: {
    TEMPORAL_UI_HOST: z.string().min(1).default('127.0.0.1'),
    TEMPORAL_UI_PORT: port(8233),
    /** Only the proxy should reach it. */
    TEMPORAL_UI_TARGET: urlOf('http:').default('http://127.0.0.1:8080'),
    TEMPORAL_UI_ORIGINS: originList('http://127.0.0.1:8233,http://localhost:8233'),
  },
  policy: {
    POLICY_FILE: z.string().min(1).optional(),
  },
  tracing: tracingFields,
};

/** Includes the names of the variables that name the file of a secret. */
export const VARIABLE_NAMES: ReadonlySet<string> = new Set(
  Object.values(CONFIGURATION_FIELDS)
    .flatMap((part): [string, z.ZodType][] => Object.entries(part))
    .flatMap(([name, field]) => (isSecret(field) ? [name, fileVariable(name)] : [name])),
);

export const SECRET_NAMES: readonly string[] = [...VARIABLE_NAMES].filter((name) =>
  VARIABLE_NAMES.has(fileVariable(name)),
);
