/**
 * The configuration of each process. Only this folder reads `process.env`. `docs/configuration.md` documents variables
 * and the policy file.
 */
import * as z from 'zod';
import { ConfigurationError } from '#config/configuration-error.ts';
import { parseEnvironment, readTogether, type Environment } from '#config/environment.ts';
import { readPolicy } from '#config/policy/policy-file.ts';
import { temporalTlsOf } from '#config/temporal-tls.ts';
import { tracingOf } from '#config/tracing.ts';
import { isLoopback, withoutEndSlashes } from '#config/variable-types.ts';
import { CONFIGURATION_FIELDS as FIELDS } from '#config/variables.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { hostOf } from '#domain/text.ts';

type Raw<Name extends keyof typeof FIELDS> = z.output<z.ZodObject<(typeof FIELDS)[Name]>>;

/** @param of makes the part of its variables. @throws ConfigurationError when they contradict each other. */
function part<Fields extends z.ZodRawShape, Value>(
  fields: z.ZodObject<Fields>,
  of: (raw: z.output<z.ZodObject<Fields>>) => Value,
) {
  return (environment: Environment): Value => of(parseEnvironment(fields, environment));
}

const { SERVICE_MISSING_CAPABILITIES, SERVICE_HEADER_PREFIX } = FIELDS.service;
const { SERVICE_WEBHOOK_SECRETS, PUBLIC_WEBHOOK_URL, ...apiOnly } = FIELDS.api;

/** The configuration by subject. Each reads its variables, and throws a ConfigurationError with every problem. */
export const PARTS = {
  logLevel: part(z.object(FIELDS.common), (raw) => raw.LOG_LEVEL),
  database: part(z.object(FIELDS.database), databaseOf),
  temporal: part(z.object(FIELDS.temporal), (raw) => ({
    address: raw.TEMPORAL_ADDRESS,
    namespace: raw.TEMPORAL_NAMESPACE,
    // Undefined: no TLS. An API key must be sent over TLS only.
    tls: temporalTlsOf(raw, raw.TEMPORAL_TLS || raw.TEMPORAL_API_KEY !== undefined),
    apiKey: raw.TEMPORAL_API_KEY,
  })),
  encryptionKeys: part(z.object(FIELDS.secrets), (raw) => raw.ENCRYPTION_KEYS),
  service: part(z.object(FIELDS.service), serviceOf),
  /** Those that SERVICE_MISSING_CAPABILITIES leaves on. */
  capabilities: part(z.object({ SERVICE_MISSING_CAPABILITIES }), capabilitiesOf),
  /** Everything before `-Event`, such as `X-Acme`. */
  headerPrefix: part(z.object({ SERVICE_HEADER_PREFIX }), (raw) => raw.SERVICE_HEADER_PREFIX),
  webhookSecrets: part(z.object({ SERVICE_WEBHOOK_SECRETS }), (raw) => raw.SERVICE_WEBHOOK_SECRETS),
  /** Used to check our own webhook address. */
  webhookUrl: part(z.object({ PUBLIC_WEBHOOK_URL }), (raw) => raw.PUBLIC_WEBHOOK_URL),
  outbound: part(z.object(FIELDS.outbound), (raw) => ({
    webhookAllowedAddresses: raw.WEBHOOK_ALLOWED_ADDRESSES,
    webhookProxy: raw.WEBHOOK_PROXY,
  })),
  api: part(z.object(apiOnly), (raw) => ({
    host: raw.API_HOST,
    port: raw.API_PORT,
    publicUrl: raw.API_PUBLIC_URL,
    shareLinkUrl: raw.API_SHARE_LINK_URL,
    bodyLimitBytes: raw.API_BODY_LIMIT,
    rateLimits: {
      // For keys without their own limit; undefined: not limited. The others are for one address.
      perMinute: raw.API_RATE_LIMIT,
      failuresPerMinute: raw.API_FAILED_AUTHENTICATIONS,
      sharePagesPerMinute: raw.API_SHARE_LINK_RATE,
    },
    trustedProxies: raw.API_TRUSTED_PROXIES,
  })),
  worker: part(z.object(FIELDS.worker), (raw) => ({
    probeHost: raw.WORKER_PROBE_HOST,
    probePort: raw.WORKER_PROBE_PORT,
    shutdownGraceMs: raw.WORKER_SHUTDOWN_GRACE,
    purchasesPerSecond: raw.WORKER_PURCHASES_PER_SECOND,
    readsPerSecond: raw.WORKER_READS_PER_SECOND,
    workflowBundle: raw.WORKFLOW_BUNDLE,
  })),
  /** Undefined: workers have no version. */
  deployment: part(z.object(FIELDS.deployment), deploymentOf),
  tracing: part(z.object(FIELDS.tracing), tracingOf),
  codec: part(z.object(FIELDS.codec), codecOf),
  temporalUi: part(z.object(FIELDS.temporalUi), (raw) => ({
    host: raw.TEMPORAL_UI_HOST,
    port: raw.TEMPORAL_UI_PORT,
    target: raw.TEMPORAL_UI_TARGET,
    origins: raw.TEMPORAL_UI_ORIGINS,
  })),
  policy: policyOfProcess,
} as const;

type Parts = { readonly [Name in keyof typeof PARTS]: ReturnType<(typeof PARTS)[Name]> };

export type DatabaseConfig = Parts['database'];
export type TemporalConfig = Parts['temporal'];
export type ServiceConfig = Parts['service'];
export type EncryptionKey = Parts['encryptionKeys'][number];

/** @throws ConfigurationError with the problems of all parts at once. */
export function readParts<Name extends keyof Parts>(
  names: readonly Name[],
  environment: Environment = process.env,
): Pick<Parts, Name> {
  const readers = names.map((name) => [name, PARTS[name]] as const);
  return readTogether(environment, Object.fromEntries(readers) as Pick<typeof PARTS, Name>) as Pick<Parts, Name>;
}

export type ApiConfig = ReturnType<typeof readApiConfig>;
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

const OF_PROCESSES = ['logLevel', 'tracing', 'database', 'encryptionKeys', 'temporal', 'service', 'outbound'] as const;

/** @throws ConfigurationError */
export function readApiConfig(environment: Environment = process.env) {
  const names = [...OF_PROCESSES, 'headerPrefix', 'webhookSecrets', 'webhookUrl', 'api', 'policy'] as const;
  const { policy, outbound, api, ...parts } = readParts(names, environment);
  return {
    ...parts,
    webhookAllowedAddresses: outbound.webhookAllowedAddresses,
    ...api,
    webhookSecretOverlapMs: policy.serviceWebhooks.secretOverlapMs,
    webhookToleranceMs: policy.serviceWebhooks.toleranceMs,
    /** The API shows what the worker will do. */
    gate: policy.gate,
    runway: policy.runway,
    endpointSecretOverlapMs: policy.outbound.secretOverlapMs,
    waiting: policy.waiting,
    streams: policy.streams,
  };
}

/** @throws ConfigurationError */
export function readWorkerConfig(environment: Environment = process.env) {
  const { outbound, worker, ...parts } = readParts([...OF_PROCESSES, 'worker', 'deployment', 'policy'], environment);
  return { ...parts, ...outbound, ...worker };
}

/** @throws ConfigurationError */
export function readCodecServerConfig(environment: Environment = process.env) {
  const { codec, ...parts } = readParts(['logLevel', 'encryptionKeys', 'codec'], environment);
  return { ...parts, ...codec };
}

/** @throws ConfigurationError */
export function readUiProxyConfig(environment: Environment = process.env) {
  const { temporalUi, logLevel } = readParts(['logLevel', 'temporalUi'], environment);
  return { logLevel, ...temporalUi };
}

export interface TemporalTls {
  readonly ca?: Buffer;
  readonly client?: { readonly cert: Buffer; readonly key: Buffer };
  /** The name in the server's certificate; undefined: the host of the address. */
  readonly serverName?: string;
}

export interface DeploymentVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

/** @throws ConfigurationError for two passwords. */
function databaseOf(raw: Raw<'database'>) {
  const url = withPassword('DATABASE_URL', raw.DATABASE_URL, raw.DATABASE_PASSWORD);
  const direct = raw.DATABASE_DIRECT_URL;
  const directUrl = direct === undefined ? url : withPassword('DATABASE_DIRECT_URL', direct, raw.DATABASE_PASSWORD);
  // Another direct address means that `url` is a pooler in transaction mode.
  return { url, directUrl, isPooled: directUrl !== url, poolSize: raw.DATABASE_POOL_SIZE };
}

function withPassword(name: string, address: string, password: string | undefined): string {
  if (password === undefined) return address;
  const url = new URL(address);
  if (url.password !== '')
    throw ConfigurationError.of(name, 'contains a password, and DATABASE_PASSWORD is set too: use one');
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Undefined: workers have no version. @throws ConfigurationError when one variable is missing. */
function deploymentOf(raw: Raw<'deployment'>): DeploymentVersion | undefined {
  const { WORKER_DEPLOYMENT_NAME: deploymentName, WORKER_BUILD_ID: buildId } = raw;
  if (deploymentName === undefined && buildId === undefined) return undefined;
  if (deploymentName === undefined) {
    const message = 'is missing: WORKER_BUILD_ID is a version of a worker deployment';
    throw ConfigurationError.of('WORKER_DEPLOYMENT_NAME', message);
  }
  if (buildId === undefined)
    throw ConfigurationError.of('WORKER_BUILD_ID', 'is missing: workers of WORKER_DEPLOYMENT_NAME need a version');
  return { deploymentName, buildId };
}

/** @throws ConfigurationError for a proxy that cannot be used, and for production without TLS. */
function serviceOf(raw: Raw<'service'>) {
  const url = new URL(raw.SERVICE_BASE_URL);
  if (raw.SERVICE_MODE === 'production' && url.protocol === 'http:' && !isLoopback(hostOf(url))) {
    const message = 'must begin with https:// in production: others could read the password';
    throw ConfigurationError.of('SERVICE_BASE_URL', message);
  }
  const capabilities = capabilitiesOf(raw);
  return {
    baseUrl: withoutEndSlashes(raw.SERVICE_BASE_URL),
    proxy: proxyOf(raw),
    mode: raw.SERVICE_MODE,
    email: raw.SERVICE_EMAIL,
    password: raw.SERVICE_PASSWORD,
    deviceName: raw.SERVICE_DEVICE_NAME,
    /** In production only. */
    tokenDays: raw.SERVICE_MODE === 'production' ? raw.SERVICE_TOKEN_DAYS : undefined,
    capabilities,
    /** False: no purchase is ever sent a second time without an operator. */
    resendAllowed: capabilities.key_replay,
  };
}

function proxyOf(raw: Raw<'service'>): string | undefined {
  const target = new URL(raw.SERVICE_BASE_URL);
  const isHttps = target.protocol === 'https:';
  const port = target.port || (isHttps ? '443' : '80');
  const host = hostOf(target);
  const name = isHttps ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = raw[name];
  if (proxy === undefined || isLoopback(host) || isExcepted(host, port, raw.NO_PROXY ?? '')) return undefined;
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw ConfigurationError.of(name, 'must be the URL of an HTTP proxy, such as http://proxy:3128');
}

/** @param exceptions hosts and domains, with or without a port and a leading `.` or `*.`; `*` is every host. */
function isExcepted(host: string, port: string, exceptions: string): boolean {
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((each) => {
      if (each === '*') return true;
      const bare = each.replace(/^\*?\./, '');
      // An IPv6 address without brackets has no port.
      if (bare.split(':').length > 2 && !bare.startsWith('[')) return host === bare;
      const [, name = '', only] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(bare) ?? [];
      return (host === name || host.endsWith(`.${name}`)) && (only === undefined || only === port);
    });
}

function capabilitiesOf(raw: Pick<Raw<'service'>, 'SERVICE_MISSING_CAPABILITIES'>): Capabilities {
  return { ...ALL_CAPABILITIES, ...Object.fromEntries(raw.SERVICE_MISSING_CAPABILITIES.map((name) => [name, false])) };
}

function codecOf(raw: Raw<'codec'>) {
  if (raw.CODEC_TOKEN === undefined && !raw.CODEC_WITHOUT_TOKEN && !isLoopback(raw.CODEC_HOST)) {
    const message =
      'other machines could decrypt everything: set CODEC_TOKEN, or CODEC_WITHOUT_TOKEN=true if only trusted ' +
      'machines can connect';
    throw ConfigurationError.of('CODEC_HOST', message);
  }
  return {
    host: raw.CODEC_HOST,
    port: raw.CODEC_PORT,
    allowedOrigins: raw.CODEC_ALLOWED_ORIGIN,
    allowedHosts: raw.CODEC_ALLOWED_HOSTS,
    token: raw.CODEC_TOKEN,
  };
}

function policyOfProcess(environment: Environment): Policy {
  const { capabilities, file } = readTogether(environment, { capabilities: PARTS.capabilities, file: readPolicy });
  const { policy } = file;
  return { ...policy, purchase: { ...policy.purchase, resendAllowed: capabilities.key_replay } };
}
