import type { Metrics } from '#telemetry/metrics.ts';
import { checkReadiness, joined, type DegradationCheck, type ReadinessCheck } from '#telemetry/readiness.ts';
import { createRedactor } from '#telemetry/redaction.ts';
import { HttpError, onlyMethods, startSmallServer, type SmallServer } from '#telemetry/small-server.ts';

export interface ProbeServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Checks of `/readyz`, by name. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** Conditions that `/readyz` shows and that do not affect readiness. */
  readonly degraded?: DegradationCheck;
  readonly metrics: Metrics;
  /** Time limit of one check, in milliseconds. */
  readonly checkDeadlineMs?: number;
}

/** Error messages of drivers may contain passwords in URLs. */
const redactor = createRedactor();

/**
 * Serves the probes of a process without an API: `/healthz` (the process runs), `/readyz` (every check passes, else
 * 503 with the reasons) and `/metrics`.
 *
 * @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<SmallServer> {
  const { host, port, checks, degraded, checkDeadlineMs: deadlineMs, metrics } = options;
  const readReadiness = joined(() => checkReadiness(checks, { degraded, deadlineMs }));
  const readMetrics = joined(() => metrics.render());
  return await startSmallServer(
    { host, port, closes: 'all' },
    (app) => {
      app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
      app.get('/readyz', async (_request, response) => {
        const readiness = await readReadiness();
        response.status(readiness.ready ? 200 : 503).json({
          status: readiness.ready ? 'ready' : 'not ready',
          checks: redactor.value(readiness.checks),
          degraded: redactor.value(readiness.degraded),
        });
      });
      app.get('/metrics', async (_request, response) => {
        const { contentType, body } = await readMetrics();
        response.setHeader('Content-Type', contentType);
        response.end(body);
      });
      app.all(['/healthz', '/readyz', '/metrics'], onlyMethods('GET, HEAD'));
      app.use(() => {
        throw new HttpError(404, 'no such path; try /healthz, /readyz or /metrics');
      });
    },
    (error, response) => {
      const known = error instanceof HttpError;
      // The name only: the message of another error may contain a password.
      const text = known ? error.message : error instanceof Error ? error.name : 'unknown error';
      response.status(known ? error.status : 500).json({ error: text });
    },
  );
}
