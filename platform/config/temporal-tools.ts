/** Configuration of the codec server and of the proxy of the Temporal UI. */
import * as z from 'zod';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import { isLoopback } from '#config/fields.ts';
import type { EncryptionKey } from '#config/sections.ts';
import { codecFields, commonFields, secretFields, temporalUiFields } from '#config/variables.ts';

export interface CodecServerConfig {
  readonly logLevel: string;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly host: string;
  readonly port: number;
  readonly allowedOrigins: readonly string[];
  /** Accepted `Host` names without a token; in lower case, without port. */
  readonly allowedHosts: readonly string[];
  readonly token: string | undefined;
}

export interface UiProxyConfig {
  readonly logLevel: string;
  readonly host: string;
  readonly port: number;
  /** URL of the Temporal UI itself. */
  readonly target: string;
  readonly origins: readonly string[];
}

/** @throws ConfigurationError naming every missing or wrong variable. */
export function readCodecServerConfig(environment: Environment = process.env): CodecServerConfig {
  const raw = parseEnvironment(
    z.object({ ...commonFields, ...secretFields, ...codecFields }).superRefine((value, context) => {
      if (value.CODEC_TOKEN !== undefined || value.CODEC_WITHOUT_TOKEN || isLoopback(value.CODEC_HOST)) return;
      context.addIssue({
        code: 'custom',
        path: ['CODEC_HOST'],
        message:
          'other machines could decrypt everything: set CODEC_TOKEN, or CODEC_WITHOUT_TOKEN=true if only trusted ' +
          'machines can connect',
      });
    }),
    environment,
  );
  return {
    logLevel: raw.LOG_LEVEL,
    encryptionKeys: raw.ENCRYPTION_KEYS,
    host: raw.CODEC_HOST,
    port: raw.CODEC_PORT,
    allowedOrigins: raw.CODEC_ALLOWED_ORIGIN,
    allowedHosts: raw.CODEC_ALLOWED_HOSTS,
    token: raw.CODEC_TOKEN,
  };
}

/** @throws ConfigurationError naming every missing or wrong variable. */
export function readUiProxyConfig(environment: Environment = process.env): UiProxyConfig {
  const raw = parseEnvironment(z.object({ ...commonFields, ...temporalUiFields }), environment);
  return {
    logLevel: raw.LOG_LEVEL,
    host: raw.TEMPORAL_UI_HOST,
    port: raw.TEMPORAL_UI_PORT,
    target: raw.TEMPORAL_UI_TARGET,
    origins: raw.TEMPORAL_UI_ORIGINS,
  };
}
