import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { spanDriver } from '#bench/drivers/protocol.ts';
import { serve } from '#bench/drivers/serve.ts';
import { parseEnvironment } from '#config/environment.ts';
import { tracingFields, tracingOf } from '#config/tracing.ts';
import { createLogger } from '#telemetry/logger.ts';
import { inSpan, startTracing } from '#telemetry/tracing.ts';

/** Fewer than wait for an export: none is dropped. */
const TOGETHER = 500;
/** Not processor time. Exports begin at the end of each group. */
const PAUSE_MS = 30;
/** Of the count, before the clock starts. */
const WARM_UP = 0.5;

serve(spanDriver, async ({ count, endpoint }) => {
  // The exporter reads its address itself.
  if (endpoint !== null) process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint;
  const config = endpoint === null ? undefined : tracingOf(parseEnvironment(z.object(tracingFields), process.env));
  const tracing = await startTracing(config, 'bench', createLogger({ level: 'silent', name: 'bench' }));
  await make(count * WARM_UP);
  const before = process.cpuUsage();
  await make(count);
  await tracing.stop();
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / count };
});

/** Makes spans as a call to the service does. */
async function make(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const attributes = {
      'http.request.method': 'POST',
      'url.template': '/orders',
      'server.address': 'service.example.com',
      'reseller.service.call': 'createOrder',
      'reseller.work.id': `ord_${made}`,
    };
    await inSpan('POST /orders', { kind: 'client', attributes }, async (span) =>
      span.set({ 'http.response.status_code': 200 }),
    );
    if (made % TOGETHER === TOGETHER - 1) await delay(PAUSE_MS);
  }
}
