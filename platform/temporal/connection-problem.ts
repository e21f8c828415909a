/** gRPC only says that no connection was made in time. */
import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { TemporalConfig, TemporalTls } from '#config/config.ts';

/** For one connection. */
const PATIENCE_MS = 1_500;
/** With empty settings (RFC 9113, 3.4): the server answers with its own. */
const HTTP2_PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

/** A clause that follows the address, with advice; undefined when nothing is wrong or it cannot be told. */
export async function connectionProblem({ address, tls }: TemporalConfig): Promise<string | undefined> {
  const separator = address.lastIndexOf(':');
  const at = { host: address.slice(0, separator), port: Number(address.slice(separator + 1)) };
  if (tls !== undefined) return tlsProblem(await tried({ ...at, ...optionsOf(tls) }), tls);
  if (!(await acceptsTcp(at))) return undefined;
  const { connected: isTls } = await tried({ ...at, rejectUnauthorized: false });
  return isTls
    ? 'expects TLS: set TEMPORAL_TLS=true, and TEMPORAL_TLS_CA if a private authority has issued its certificate.'
    : undefined;
}

function optionsOf({ ca, client, serverName }: TemporalTls): ConnectionOptions {
  return {
    ...(ca !== undefined && { ca }),
    ...(client !== undefined && { cert: client.cert, key: client.key }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

interface Tried {
  readonly connected: boolean;
  /** Of OpenSSL or of the system. */
  readonly code?: string;
  readonly message?: string;
  readonly names?: string;
}

async function tried(options: ConnectionOptions): Promise<Tried> {
  const socket = connectTls({ ALPNProtocols: ['h2'], ...options });
  let connected = false;
  try {
    return await new Promise<Tried>((resolve) => {
      socket.setTimeout(PATIENCE_MS, () => resolve({ connected }));
      socket.once('error', (error: Error) => resolve({ connected, ...described(error) }));
      socket.once('close', () => resolve({ connected, code: 'CLOSED' }));
      // With TLS 1.3 a server refuses a client certificate only after this.
      socket.once('secureConnect', () => {
        connected = true;
        socket.write(HTTP2_PREFACE);
      });
      socket.once('data', () => resolve({ connected, ...(socket.alpnProtocol !== 'h2' && { code: 'NO_HTTP2' }) }));
    });
  } finally {
    socket.destroy();
  }
}

function described(error: Error): Omit<Tried, 'connected'> {
  const code = 'code' in error ? String(error.code) : '';
  const names = 'cert' in error ? namesOf(error.cert) : undefined;
  return { code, message: error.message, ...(names !== undefined && { names }) };
}

function namesOf(certificate: unknown): string | undefined {
  if (typeof certificate !== 'object' || certificate === null || !('subjectaltname' in certificate)) return undefined;
  const { subjectaltname } = certificate;
  return typeof subjectaltname === 'string' ? subjectaltname.replaceAll(/(DNS|IP Address):/g, '') : undefined;
}

const UNKNOWN_ISSUER: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function tlsProblem({ connected, code, message = '', names }: Tried, tls: TemporalTls): string | undefined {
  if (code === undefined) return undefined;
  if (UNKNOWN_ISSUER.has(code)) return unknownIssuer(tls);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return (
      `has a certificate for other names (${names ?? 'none'}): ` +
      'set TEMPORAL_TLS_SERVER_NAME to one of them if this is the right server.'
    );
  if (code === 'CERT_HAS_EXPIRED') return 'has a certificate that has expired: renew the certificate of the server.';
  if (code === 'CERT_NOT_YET_VALID')
    return 'has a certificate that is not valid yet: check the clocks of both machines.';
  if (code === 'NO_HTTP2')
    return 'is no Temporal server: it answers by TLS, but not by HTTP/2. Check TEMPORAL_ADDRESS.';
  if (/alert/i.test(message) || (connected && (code === 'CLOSED' || code === 'ECONNRESET'))) return refusal(tls);
  if (/wrong version number|packet length too long|http request/i.test(message))
    return (
      'does not use TLS: remove TEMPORAL_TLS and the other variables that ask for TLS, ' +
      'or correct TEMPORAL_ADDRESS.'
    );
  return undefined;
}

function unknownIssuer({ ca }: TemporalTls): string {
  return ca === undefined
    ? 'has a certificate of an authority that is not public: set TEMPORAL_TLS_CA to the certificate of that authority.'
    : 'has a certificate that no authority in TEMPORAL_TLS_CA has issued: check TEMPORAL_TLS_CA and TEMPORAL_ADDRESS.';
}

function refusal({ client }: TemporalTls): string {
  return client === undefined
    ? 'ends the TLS connection: it probably requires a client certificate. Set TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY.'
    : 'refuses our client certificate: check with its operator that it trusts the authority of TEMPORAL_TLS_CERT.';
}

async function acceptsTcp(at: { readonly host: string; readonly port: number }): Promise<boolean> {
  const socket = connectTcp(at);
  try {
    return await new Promise<boolean>((resolve) => {
      socket.setTimeout(PATIENCE_MS, () => resolve(false));
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}
