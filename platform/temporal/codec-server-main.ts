import { readCodecServerConfig } from '#config/config.ts';
import { exitOnConfigurationError } from '#config/configuration-error.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { createLogger } from '#telemetry/logger.ts';
import { startCodecServer } from '#temporal/codec/codec-server.ts';
import { EncryptionCodec } from '#temporal/codec/payload-codec.ts';

const config = exitOnConfigurationError(() => readCodecServerConfig());
const { host, port, allowedOrigins, allowedHosts, token } = config;
const secrets = token === undefined ? [] : [token];
const logger = createLogger({ level: config.logLevel, name: 'codec-server', secrets });

try {
  const codec = new EncryptionCodec(new KeyRing(config.encryptionKeys));
  const server = await startCodecServer({ host, port, codec, allowedOrigins, allowedHosts, token, logger });
  logger.info({ host: server.host, port: server.port, allowedOrigins }, 'the codec server listens');
  const stop = () => void server.close().then(() => logger.info('the codec server has stopped'));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
} catch (error) {
  logger.fatal({ err: error }, `the codec server cannot listen on ${host}:${port}; CODEC_PORT sets another port`);
  process.exitCode = 1;
}
