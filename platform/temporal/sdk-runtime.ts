import { createServer } from 'node:http';
import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { close, listen } from '#telemetry/http-server.ts';
import type { Logger } from '#telemetry/logger.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** At each start of a worker that only carries out activities. */
const WITHOUT_WORKFLOWS = /^No workflows registered\b/;

/** For `Runtime.install`: our logger redacts the entries. */
export function createSdkLogger(logger: Logger): DefaultLogger {
  const levels = Object.keys(LEVELS) as (keyof typeof LEVELS)[];
  return new DefaultLogger(levels.find((level) => LEVELS[level] === logger.level) ?? 'ERROR', (entry) => {
    const { level, message, meta } = entry;
    const { error, ...fields } = (meta ?? {}) as Record<string, unknown>;
    const shown = error === undefined ? fields : { ...fields, err: error };
    logger[WITHOUT_WORKFLOWS.test(message) ? 'debug' : LEVELS[level]](shown, message);
  });
}

/** Another process may take a free port before the SDK does. */
const TRIES = 5;

const READ_DEADLINE_MS = 2_000;
const LOOPBACK = '127.0.0.1';

/**
 * The SDK serves its metrics only at an address of its own, here a free port of loopback.
 * @returns a function that reads them, so that the process has one address for Prometheus.
 * @throws Error when the runtime cannot be installed.
 */
export async function installRuntime(options: RuntimeOptions): Promise<() => Promise<string>> {
  for (let tries = 1; ; tries += 1) {
    const bindAddress = `${LOOPBACK}:${await freePort()}`;
    const prometheus = { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
    try {
      Runtime.install({ ...options, telemetryOptions: { ...options.telemetryOptions, metrics: { prometheus } } });
      return () => read(`http://${bindAddress}/metrics`);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function read(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(READ_DEADLINE_MS) });
  if (!response.ok) throw new Error(`the metrics of the Temporal SDK were answered with ${response.status}`);
  return response.text();
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host: LOOPBACK, port: 0 });
  await close(server, 'all');
  return port;
}
