import { readUiProxyConfig } from '#config/config.ts';
import { exitOnConfigurationError } from '#config/configuration-error.ts';
import { createLogger } from '#telemetry/logger.ts';
import { startUiProxy } from '#temporal/ui-proxy.ts';

const { logLevel, ...config } = exitOnConfigurationError(() => readUiProxyConfig());
const logger = createLogger({ level: logLevel, name: 'temporal-ui-proxy' });

try {
  const proxy = await startUiProxy({
    ...config,
    onProblem: ({ what, detail }) => logger.warn({ detail }, `a request for the Temporal UI was refused (${what})`),
  });
  logger.info({ host: config.host, port: proxy.port, origins: config.origins }, 'the Temporal UI is served');
  const stop = () => void proxy.close().then(() => logger.info('the proxy of the Temporal UI has stopped'));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
} catch (error) {
  logger.fatal(
    { err: error },
    `the proxy cannot listen on ${config.host}:${config.port}; TEMPORAL_UI_PORT sets another port`,
  );
  process.exitCode = 1;
}
