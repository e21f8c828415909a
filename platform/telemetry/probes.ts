import { HttpError, onlyMethods, type SmallServer, startSmallServer } from '#telemetry/http-server.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { createRedactor } from '#telemetry/redaction.ts';
import { joined, within } from '#telemetry/waiting.ts';

/** Rejects with the problem when a dependency is not usable. */
export type ReadinessCheck = () => Promise<void>;

/** The process still accepts work, but the work will wait. */
export interface Degradation {
  /** Stable name, such as `not_approved`. */
  readonly condition: string;
  readonly detail: string;
}

/** From stored data, without calls to other systems. */
export type DegradationCheck = () => Promise<readonly Degradation[]>;

/** Kubernetes waits one second for a probe by default; answer before that. */
const CHECK_DEADLINE_MS = 900;

/** Checks run in parallel, each with a time limit. A degradation does not affect `ready`. Never throws. */
export async function checkReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  readDegraded: DegradationCheck = async () => [],
  deadlineMs = CHECK_DEADLINE_MS,
) {
  const [results, degraded] = await Promise.all([
    Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check, deadlineMs)] as const),
    ),
    // The check of the same source then fails too and shows it.
    within(deadlineMs, readDegraded).catch(() => []),
  ]);
  return { ready: results.every(([, result]) => result.ok), checks: Object.fromEntries(results), degraded };
}

async function runCheck(check: ReadinessCheck, deadlineMs: number): Promise<{ ok: boolean; detail?: string }> {
  try {
    await within(deadlineMs, check);
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Error messages of drivers may contain passwords in URLs. */
const redactor = createRedactor();

/** `/healthz`, `/readyz` (503 with the reasons) and `/metrics`. @throws Error with code EADDRINUSE or EACCES. */
export async function startProbeServer(options: {
  readonly host: string;
  readonly port: number;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly degraded?: DegradationCheck;
  readonly metrics: Metrics;
  readonly checkDeadlineMs?: number;
}): Promise<SmallServer> {
  const { host, port, checks, degraded, checkDeadlineMs, metrics } = options;
  const readReadiness = joined(() => checkReadiness(checks, degraded, checkDeadlineMs));
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
