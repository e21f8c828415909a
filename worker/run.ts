import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { WorkerConfig } from '#config/config.ts';
import { DatabaseUnavailableError } from '#db/connection/database.ts';
import { EncryptionKeysError, registerKeys, verifyKeys } from '#db/connection/encryption-keys.ts';
import { OtherInstallationError, stampOrVerify } from '#db/connection/installation.ts';
import { requireCurrentSchema, SchemaNotCurrentError } from '#db/connection/migrate.ts';
import { hasEnded } from '#db/work/rows.ts';
import { readConditions } from '#fulfilment/readiness/conditions.ts';
import { startProbeServer } from '#telemetry/probes.ts';
import { startTracing } from '#telemetry/tracing.ts';
import { settlesWithin } from '#telemetry/waiting.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import {
  TemporalUnavailableError,
  connectNative,
  createClient,
  isRefusalOfCall,
  tryConnection,
} from '#temporal/connection.ts';
import { ensureSchedules } from '#temporal/schedules.ts';
import { createSdkLogger, installRuntime } from '#temporal/sdk-runtime.ts';
import { NamespaceSetUpError, setUpNamespace } from '#temporal/set-up.ts';
import { signalReport, type Starter, startWork, wakeEndpoint, wakeWork } from '#temporal/start-work.ts';
import { readRouting } from '#temporal/worker-versions.ts';
import { workflowBundle } from '#worker/bundle.ts';
import { createWorkerParts, type WorkerParts, policyInForce } from '#worker/composition.ts';
import { Relay } from '#worker/relay/relay.ts';
import { TemporalWatch } from '#worker/temporal-watch.ts';
import { createWorkers } from '#worker/workers.ts';
import { TASK_QUEUE } from '#workflows/messages.ts';

const START_RETRY_MS = 1_000;
/** A worker without running tasks that has not ended after this time waits for a Temporal that does not answer. */
const SHUTDOWN_MARGIN_MS = 2_000;
const STATE_CHECK_MS = 100;
/** A connection without pending calls closes within milliseconds. */
const CLOSE_MS = 1_000;

/** Runs the worker and the relay until SIGTERM or SIGINT. @throws the first error that stops the worker. */
export async function runWorker(config: WorkerConfig, parts: WorkerParts = createWorkerParts(config)): Promise<void> {
  const { logger, metrics, database, keyRing } = parts;
  const tracing = await startTracing(config.tracing, 'worker', logger);
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort());

  let running: NativeConnection | undefined;
  const policy = config.policy.temporalHealth;
  const temporal = new TemporalWatch({
    // A worker that waits for Temporal has no connection yet, and reports the silence too.
    ask: async () => {
      if (running !== undefined) {
        // A refusal is an answer too, for example of an account that may not read the routing.
        return readRouting(running, config.temporal.namespace).catch((error: unknown) => {
          if (isRefusalOfCall(error)) return undefined;
          throw error;
        });
      }
      await tryConnection(config.temporal, { timeoutMs: policy.deadlineMs });
      return undefined;
    },
    own: config.deployment,
    policy,
    metrics,
    logger,
    now: Date.now,
  });
  const setRunning = (now: NativeConnection | undefined) => {
    running = now;
    // The share of work decides whether a start may be eager.
    void (now === undefined ? temporal.stop() : temporal.look());
  };
  const probes = await startProbeServer({
    host: config.probeHost,
    port: config.probePort,
    metrics,
    checks: {
      database: () => database.run((db) => requireCurrentSchema(db)),
      // Another process may use a key that this one lacks.
      encryption: () => database.run((db) => verifyKeys(db, keyRing)),
      worker: async () => {
        if (running === undefined) throw new Error('the worker is not running (yet)');
      },
      temporal: async () => temporal.check(),
    },
    degraded: async () => [...(await database.run(readConditions)), ...temporal.degraded],
  });
  logger.info({ port: probes.port }, 'probes are served');
  temporal.start();

  try {
    await untilAvailable(parts, stopping.signal, async () => {
      await database.run((db) => requireCurrentSchema(db));
      await database.run((db) =>
        stampOrVerify(db, { serviceBaseUrl: config.service.baseUrl, serviceMode: config.service.mode }),
      );
      await registerKeys(database, keyRing);
      await parts.firstPurchaseCheck.hold();
      await setUpNamespace(config.temporal);
    });
    if (!stopping.signal.aborted) {
      await work(config, parts, stopping.signal, setRunning, temporal);
    }
    logger.info('the worker has stopped');
  } catch (error) {
    logger.fatal({ err: error }, 'the worker cannot run');
    process.exitCode = 1;
  } finally {
    await temporal.stop();
    await probes.close();
    await parts.close();
    await tracing.stop();
  }
}

async function work(
  config: WorkerConfig,
  parts: WorkerParts,
  signal: AbortSignal,
  setRunning: (running: NativeConnection | undefined) => void,
  temporal: TemporalWatch,
): Promise<void> {
  const { logger, metrics, database, keyRing, wakeups, gateLoop, firstPurchaseCheck } = parts;
  // We handle signals ourselves: the relay must stop before the worker.
  const telemetryOptions = { logging: { forward: {} } };
  metrics.renderAlso(await installRuntime({ logger: createSdkLogger(logger), shutdownSignals: [], telemetryOptions }));
  const policy = await untilAvailable(parts, signal, () =>
    database.run((db) => policyInForce(db, config.policy, config.service.mode)),
  );
  if (policy === undefined) return;
  const { resendAllowed, maxAttempts } = policy.purchase;
  logger.info({ resendAllowed, maxAttempts }, 'policy after the capability profile and the configuration');
  const connection = await untilAvailable(parts, signal, () => connectNative(config.temporal));
  if (connection === undefined) return;
  const client = createClient(connection, config.temporal, keyRing);
  const workers = await createWorkers({
    connection,
    config,
    workflowBundle: await workflowBundle(config.workflowBundle),
    activities: parts.activities,
    webhookActivities: parts.webhookActivities,
    dataConverter: createWorkerDataConverter(keyRing),
  });
  await untilAvailable(parts, signal, () => ensureSchedules(client, policy));

  const starter: Starter = {
    client,
    policy: policy.purchase,
    environment: config.service.mode,
    mayBeEager: () => temporal.share === 'all',
    isEnded: (work) => database.run((db) => hasEnded(db, work)),
  };
  const relay = new Relay({
    database,
    keyRing,
    workflows: {
      start: (work) => startWork(starter, work),
      wake: (work) => wakeWork(starter, work),
      signalReport: (work, observation) => signalReport(starter, work, observation),
    },
    endpoints: { wake: (id, options) => wakeEndpoint(client, id, options) },
    wakeups,
    policy: policy.relay,
    metrics,
    logger,
    now: Date.now,
  });
  const running = runAll(workers);
  wakeups.listen();
  relay.start();
  gateLoop.start();
  firstPurchaseCheck.start();
  setRunning(connection);
  logger.info({ taskQueue: TASK_QUEUE, namespace: config.temporal.namespace }, 'the worker is running');

  const stopParts = async () => {
    setRunning(undefined);
    await Promise.all([gateLoop.stop(), firstPurchaseCheck.stop(), relay.stop()]);
  };
  const drained = Promise.withResolvers<void>();
  const onAbort = () => {
    void stopParts();
    void relay.stop().finally(() => {
      stopAll(workers);
      drained.resolve();
    });
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await Promise.race([running, drained.promise.then(() => untilStopped(workers, running, config.shutdownGraceMs))]);
  } finally {
    await stopParts();
    // `close` waits for calls, which a hanging Temporal never answers, and fails while a worker has not ended. The
    // process ends in both cases.
    const closing = connection
      .close()
      .catch((error: unknown) => logger.warn({ err: error }, 'the connection to Temporal could not be closed'));
    await settlesWithin(CLOSE_MS, closing);
  }
}

async function runAll(workers: readonly Worker[]): Promise<void> {
  const ended = await Promise.allSettled(workers.map((each) => each.run().finally(() => stopAll(workers))));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Resolves when workers have ended, or have no running tasks and only wait for Temporal. */
async function untilStopped(workers: readonly Worker[], running: Promise<void>, graceMs: number): Promise<void> {
  const lastCheck = performance.now() + graceMs + SHUTDOWN_MARGIN_MS;
  while (workers.some(isBusy) && performance.now() < lastCheck) {
    if (await settlesWithin(STATE_CHECK_MS, running)) return;
  }
  await settlesWithin(SHUTDOWN_MARGIN_MS, running);
}

function isBusy(worker: Worker): boolean {
  const state = worker.getState();
  return state !== 'STOPPED' && state !== 'FAILED';
}

function stopAll(workers: readonly Worker[]): void {
  for (const each of workers) if (each.getState() === 'RUNNING') each.shutdown();
}

/** Processes can be started in any order. */
async function untilAvailable<Result>(
  { logger }: WorkerParts,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof OtherInstallationError || error instanceof EncryptionKeysError) throw error;
      if (error instanceof NamespaceSetUpError) throw error;
      if (!isTemporary(error)) throw error;
      logger.warn({ err: error }, 'PostgreSQL or Temporal is not available yet; the worker tries again');
    }
    await delay(START_RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function isTemporary(error: unknown): boolean {
  if (error instanceof DatabaseUnavailableError || error instanceof SchemaNotCurrentError) return true;
  // The schedule client wraps the gRPC error.
  return error instanceof TemporalUnavailableError || error instanceof ServiceError || isGrpcServiceError(error);
}
