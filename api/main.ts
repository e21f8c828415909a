import { setTimeout as delay } from 'node:timers/promises';
import { createApp } from '#api/app.ts';
import { createApiParts } from '#api/composition.ts';
import { startServer } from '#api/http/server.ts';
import { readApiConfig, type ApiConfig } from '#config/config.ts';
import { exitOnConfigurationError } from '#config/configuration-error.ts';
import { DatabaseUnavailableError } from '#db/connection/database.ts';
import { registerKeys } from '#db/connection/encryption-keys.ts';
import { stampOrVerify } from '#db/connection/installation.ts';
import { requireCurrentSchema, SchemaNotCurrentError } from '#db/connection/migrate.ts';
import { forgetRefusedPrefix } from '#db/service/webhook-secrets.ts';
import { startTracing } from '#telemetry/tracing.ts';

/** Between two tries to reach PostgreSQL at the start. */
const START_RETRY_MS = 1_000;

/** Only a receiver of spans that does not answer keeps the process alive. */
const EXIT_AFTER_MS = 1_000;

const NO_WEBHOOK_SECRET =
  'there is no webhook secret, so every webhook of the service is refused: run `npx reseller service-secret create`, ' +
  'or set SERVICE_WEBHOOK_SECRETS';

const config = exitOnConfigurationError(() => readApiConfig());
await runApi(config);
setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();

/** Needs PostgreSQL, never Temporal. */
async function runApi(config: ApiConfig): Promise<void> {
  const parts = createApiParts(config);
  const { logger } = parts.dependencies;
  const tracing = await startTracing(config.tracing, 'api', logger);
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) =>
    stopping.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());

  try {
    const server = await startServer(createApp(parts.dependencies), config);
    parts.state.address = server.address;
    logger.info({ host: server.host, port: server.port }, 'the API listens');
    try {
      await openWhenUsable(config, parts, stopping.signal);
      await parts.dependencies.storedSecrets.keepFresh(stopping.signal);
      await stopped;
      parts.state.stopping = true;
    } finally {
      await Promise.all([parts.dependencies.tail.stop(), server.stop()]);
    }
    logger.info('the API has stopped');
  } catch (error) {
    logger.fatal({ err: error }, 'the API cannot run');
    process.exitCode = 1;
  } finally {
    await parts.close();
    await tracing.stop();
  }
}

/**
 * Only probes are answered until the database is reachable, has the current schema, and is of this service and mode.
 */
async function openWhenUsable(
  config: ApiConfig,
  parts: ReturnType<typeof createApiParts>,
  signal: AbortSignal,
): Promise<void> {
  const { database, keyRing, storedSecrets, tail, webhookSecrets, logger } = parts.dependencies;
  const { baseUrl: serviceBaseUrl, mode: serviceMode } = config.service;
  while (!signal.aborted) {
    try {
      await database.run(async (db) => {
        await requireCurrentSchema(db);
        await stampOrVerify(db, { serviceBaseUrl, serviceMode });
        await forgetRefusedPrefix(db, config.headerPrefix);
      });
      // Before anything is encrypted or decrypted.
      await registerKeys(database, keyRing);
      // Before the first webhook delivery: it may be signed with a stored secret.
      await storedSecrets.refresh();
      // Before the first caller waits for events.
      await tail.open();
      parts.listener.listen();
      parts.keys.open();
      if (webhookSecrets.length === 0 && storedSecrets.current()?.length === 0) logger.warn(NO_WEBHOOK_SECRET);
      parts.state.closedBecause = undefined;
      logger.info('the API takes requests');
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError || error instanceof SchemaNotCurrentError)) throw error;
      parts.state.closedBecause = error.message;
      logger.warn({ err: error }, 'the database is not usable yet; the API tries again');
    }
    await delay(START_RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}
