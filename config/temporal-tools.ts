/** Configuration of the two processes beside the Temporal UI: the codec server and the proxy in front of the UI. */
import * as z from 'zod';
import type { EncryptionKey } from '#config/config.ts';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import { isLoopback } from '#config/fields.ts';
import { codecFields, commonFields, secretFields, temporalUiFields } from '#config/variables.ts';

export interface CodecServerConfig {
  readonly logLevel: string;
  readonly encryptionKeys: readonly EncryptionKey[];
  readonly host: string;
  readonly port: number;
  readonly allowedOrigins: readonly string[];
  /** Names that it may be asked under where no token is needed; in lower case, without port. */
  readonly allowedHosts: readonly string[];
  readonly token: string | undefined;
}

export interface UiProxyConfig {
  readonly logLevel: string;
  readonly host: string;
  readonly port: number;
  /** Where the Temporal UI itself listens. */
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
          'others than this machine could decrypt everything: set CODEC_TOKEN, or CODEC_WITHOUT_TOKEN=true where ' +
          'something else keeps strangers out',
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
