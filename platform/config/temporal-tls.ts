import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { TemporalTls } from '#config/config.ts';
import { ConfigurationError } from '#config/configuration-error.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/;

/** The variables name files, because certificates and keys have several lines and are renewed. */
export const temporalTlsFields = {
  TEMPORAL_TLS_CA: pemFile(caProblem).optional(),
  TEMPORAL_TLS_CERT: pemFile(certificateProblem).optional(),
  TEMPORAL_TLS_KEY: pemFile(keyProblem).optional(),
  TEMPORAL_TLS_SERVER_NAME: z
    .string()
    .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'must be a host name, without scheme and port')
    .optional(),
};

type RawTls = { readonly [Name in keyof typeof temporalTlsFields]?: z.output<(typeof temporalTlsFields)[Name]> };

/** Undefined: no TLS is asked for. @throws ConfigurationError when certificate and key do not belong together. */
export function temporalTlsOf(raw: RawTls, enabled: boolean): TemporalTls | undefined {
  const { TEMPORAL_TLS_CA: ca, TEMPORAL_TLS_CERT: cert, TEMPORAL_TLS_KEY: key } = raw;
  const { TEMPORAL_TLS_SERVER_NAME: serverName } = raw;
  if (cert !== undefined || key !== undefined) requirePair(cert, key);
  if (!enabled && ca === undefined && cert === undefined && serverName === undefined) return undefined;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { client: { cert, key } }),
    ...(serverName !== undefined && { serverName }),
  };
}

function requirePair(cert: Buffer | undefined, key: Buffer | undefined): void {
  if (cert === undefined)
    throw ConfigurationError.of('TEMPORAL_TLS_CERT', 'is missing: TEMPORAL_TLS_KEY is the key of a client certificate');
  if (key === undefined)
    throw ConfigurationError.of('TEMPORAL_TLS_KEY', 'is missing: the certificate in TEMPORAL_TLS_CERT needs its key');
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  const message = 'is the key of another certificate than the first one in TEMPORAL_TLS_CERT';
  throw ConfigurationError.of('TEMPORAL_TLS_KEY', message);
}

function pemFile(problemOf: (pem: string) => string | undefined) {
  return z.string().transform((path, context) => {
    const content = path.includes('-----BEGIN ') ? undefined : read(path);
    const problem =
      content === undefined
        ? 'must be the path of a PEM file, not its content'
        : typeof content === 'string'
          ? `is a file that cannot be read (${content})`
          : problemOf(content.toString('utf8'));
    if (problem === undefined && Buffer.isBuffer(content)) return content;
    context.addIssue({ code: 'custom', message: problem ?? 'cannot be read' });
    return z.NEVER;
  });
}

/** The content, or the system's code of the error. */
function read(path: string): Buffer | string {
  try {
    return readFileSync(path);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  }
}

/** A bundle of authorities may have some that have expired. */
function caProblem(pem: string): string | undefined {
  const certificates = certificatesOf(pem);
  if (typeof certificates === 'string') return certificates;
  return certificates.map(validityProblem).find((problem, _, all) => problem !== undefined && !all.includes(undefined));
}

function certificateProblem(pem: string): string | undefined {
  const certificates = certificatesOf(pem);
  if (typeof certificates === 'string') return certificates;
  if (certificates.some(isVersion1)) return 'is a certificate in version 1 of X.509; issue one in version 3';
  return certificates.map(validityProblem).find(Boolean);
}

/** The Temporal SDK refuses version 1. In DER, only later versions state their version, as the first element. */
function isVersion1({ raw }: X509Certificate): boolean {
  const contentAt = (start: number) => start + 2 + ((raw[start + 1] ?? 0) < 0x80 ? 0 : (raw[start + 1] ?? 0) & 0x7f);
  return raw[contentAt(contentAt(0))] !== 0xa0;
}

function certificatesOf(pem: string): readonly X509Certificate[] | string {
  const blocks = pem.match(CERTIFICATE);
  if (blocks === null) {
    return PRIVATE_KEY.test(pem)
      ? 'is a file with a private key, where a certificate is expected'
      : 'is a file without a certificate in PEM form (-----BEGIN CERTIFICATE-----)';
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return 'is a file with a damaged certificate';
  }
}

function validityProblem({ validFromDate, validToDate }: X509Certificate): string | undefined {
  const now = Date.now();
  if (validToDate.getTime() < now) return `is a certificate that expired on ${validToDate.toISOString()}`;
  if (validFromDate.getTime() > now) return `is a certificate that is valid only from ${validFromDate.toISOString()}`;
  return undefined;
}

function keyProblem(pem: string): string | undefined {
  if (!PRIVATE_KEY.test(pem)) {
    return pem.match(CERTIFICATE) !== null
      ? 'is a file with a certificate, where its private key is expected'
      : 'is a file without a private key in PEM form (-----BEGIN PRIVATE KEY-----)';
  }
  if (/ENCRYPTED/.test(pem)) return 'is a private key with a passphrase; store it without one, readable only by us';
  try {
    createPrivateKey(pem);
    return undefined;
  } catch {
    return 'is a file with a damaged private key';
  }
}
