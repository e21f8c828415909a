import { ConfigurationError } from '#config/configuration-error.ts';
import { isLoopback } from '#config/fields.ts';
import { temporalTlsOf } from '#config/temporal-tls.ts';
import {
  isResendAllowed,
  type databaseFields,
  type deploymentFields,
  type Raw,
  type secretFields,
  type serviceFields,
  type temporalFields,
} from '#config/variables.ts';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';

export interface WebhookSecret {
  readonly secret: string;
  /** Epoch milliseconds, after a rotation. */
  readonly acceptedUntil?: number;
}

export type EncryptionKey = Raw<typeof secretFields>['ENCRYPTION_KEYS'][number];
export type DatabaseConfig = ReturnType<typeof databaseOf>;
export type TemporalConfig = ReturnType<typeof temporalOf>;
export type ServiceConfig = ReturnType<typeof serviceOf>;

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
export function databaseOf(raw: Raw<typeof databaseFields>) {
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
    throw new ConfigurationError([{ name, message: 'contains a password, and DATABASE_PASSWORD is set too: use one' }]);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** @throws ConfigurationError */
export function temporalOf(raw: Raw<typeof temporalFields>) {
  const apiKey = raw.TEMPORAL_API_KEY;
  return {
    address: raw.TEMPORAL_ADDRESS,
    namespace: raw.TEMPORAL_NAMESPACE,
    // Undefined: no TLS. An API key must be sent over TLS only.
    tls: temporalTlsOf(raw, raw.TEMPORAL_TLS || apiKey !== undefined),
    apiKey,
  };
}

/** Undefined: workers have no version. @throws ConfigurationError when one variable is missing. */
export function deploymentOf(raw: Raw<typeof deploymentFields>): DeploymentVersion | undefined {
  const { WORKER_DEPLOYMENT_NAME: deploymentName, WORKER_BUILD_ID: buildId } = raw;
  if (deploymentName === undefined && buildId === undefined) return undefined;
  if (deploymentName === undefined)
    throw new ConfigurationError([
      { name: 'WORKER_DEPLOYMENT_NAME', message: 'is missing: WORKER_BUILD_ID is a version of a worker deployment' },
    ]);
  if (buildId === undefined)
    throw new ConfigurationError([
      { name: 'WORKER_BUILD_ID', message: 'is missing: workers of WORKER_DEPLOYMENT_NAME need a version' },
    ]);
  return { deploymentName, buildId };
}

/** @throws ConfigurationError for a proxy that cannot be used, and for production without TLS. */
export function serviceOf(raw: Raw<typeof serviceFields>) {
  const { protocol, hostname } = new URL(raw.SERVICE_BASE_URL);
  const isLocal = isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
  if (raw.SERVICE_MODE === 'production' && protocol === 'http:' && !isLocal)
    throw new ConfigurationError([
      { name: 'SERVICE_BASE_URL', message: 'must begin with https:// in production: others could read the password' },
    ]);
  return {
    baseUrl: raw.SERVICE_BASE_URL.replace(/\/+$/, ''),
    proxy: proxyOf(raw),
    mode: raw.SERVICE_MODE,
    email: raw.SERVICE_EMAIL,
    password: raw.SERVICE_PASSWORD,
    deviceName: raw.SERVICE_DEVICE_NAME,
    /** In production only. */
    tokenDays: raw.SERVICE_MODE === 'production' ? raw.SERVICE_TOKEN_DAYS : undefined,
    capabilities: capabilitiesOf(raw),
    /** False: no purchase is ever sent a second time without an operator. */
    resendAllowed: isResendAllowed(raw),
  };
}

function proxyOf(raw: Raw<typeof serviceFields>): string | undefined {
  const { protocol, hostname, port: given } = new URL(raw.SERVICE_BASE_URL);
  const port = given || (protocol === 'https:' ? '443' : '80');
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = raw[name];
  if (proxy === undefined || isLoopback(host) || isExcepted(host, port, raw.NO_PROXY ?? '')) return undefined;
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new ConfigurationError([{ name, message: 'must be the URL of an HTTP proxy, such as http://proxy:3128' }]);
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

export function capabilitiesOf(raw: Pick<Raw<typeof serviceFields>, 'SERVICE_MISSING_CAPABILITIES'>): Capabilities {
  return { ...ALL_CAPABILITIES, ...Object.fromEntries(raw.SERVICE_MISSING_CAPABILITIES.map((name) => [name, false])) };
}
