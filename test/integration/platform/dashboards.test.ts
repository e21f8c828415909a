import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DASHBOARDS, dashboardFiles } from '#scripts/dashboards/dashboards.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { PROJECT } from '#test/support/compose.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { hasPrometheus, Prometheus } from '#test/support/servers/prometheus.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** Counters that appear with their first event, which this test does not cause. */
const ONLY_IN_TROUBLE = new Set([
  'reseller_upstream_unused_fields_total',
  'reseller_upstream_dropped_items_total',
  'temporal_request_failure_total',
  'temporal_sticky_cache_miss_total',
  'temporal_workflow_task_execution_failed_total',
]);
/** Panels that may have no value in this test: too few sales for a runway; no call has failed for a minute. */
const EMPTY_HERE = new Set(['Wallet lasts for', 'Failures by endpoint']);
/** Long enough for `rate` with a scrape each second. */
const RATE_INTERVAL = '15s';

const panel = z.object({
  title: z.string().min(1),
  description: z.string().min(1),
  type: z.enum(['stat', 'timeseries']),
  targets: z.array(z.object({ expr: z.string().min(1), legendFormat: z.string().min(1), refId: z.string() })).min(1),
});

const metricsIn = (expression: string) =>
  expression.replaceAll(/"[^"]*"/g, '').match(/\b(?:(?:reseller|temporal|process|nodejs)_\w+|up)\b/g) ?? [];
const panelList = z.array(panel);
const panels = DASHBOARDS.flatMap(({ uid: dashboard = '', panels: all }) =>
  panelList.parse(all).map(({ title, targets }) => ({
    dashboard,
    title,
    expressions: targets.map(({ expr }) => expr.replaceAll('$__rate_interval', RATE_INTERVAL)),
  })),
);

describe('the Grafana dashboards', () => {
  it('are the files that `npm run generate:dashboards` writes, and no others', () => {
    const files = dashboardFiles();
    for (const { path, text } of files) expect(readFileSync(join(PROJECT, path), 'utf8'), path).toBe(text);
    const folder = 'ops/grafana/dashboards';
    const found = readdirSync(join(PROJECT, folder)).map((name) => `${folder}/${name}`);
    expect(found.toSorted()).toEqual(files.map(({ path }) => path).toSorted());
  });
});

describe.skipIf(!hasPrometheus)('the dashboards with the metrics of a running product', () => {
  let stack: Stack;
  let prometheus: Prometheus;

  beforeAll(async () => {
    const often = { 'books.every': '5s', 'catalogue.every': '5s' };
    stack = await startStack({ environment: { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1', ...often } });
    const of = (process: 'api' | 'worker', port: string) => `127.0.0.1:${stack.environments[process][port]}`;
    prometheus = await Prometheus.start({
      'reseller-api': [of('api', 'API_PORT')],
      'reseller-worker': [of('worker', 'WORKER_PROBE_PORT')],
    });
    await causeEachKindOfSeries(stack);
  });
  afterAll(async () => {
    await prometheus[Symbol.asyncDispose]();
    await stack.stop();
  });

  it.each(panels)('$dashboard: "$title" shows series that exist', async ({ title, expressions }) => {
    for (const expression of expressions) {
      const mayBeEmpty = EMPTY_HERE.has(title) || metricsIn(expression).some((name) => ONLY_IN_TROUBLE.has(name));
      const found = await waitFor(`series of ${expression}`, async () => {
        const series = await prometheus.query(expression);
        return series.length > 0 || mayBeEmpty ? series : undefined;
      });
      expect(found.length > 0 || mayBeEmpty, expression).toBe(true);
    }
  });

  it('are not silently empty: a metric and a label that do not exist have no series', async () => {
    expect(await prometheus.query('sum by (kind) (reseller_work_duration_minutes_count)')).toEqual([]);
    expect(await prometheus.query('max by (kind) (reseller_work{state="held"})')).toEqual([]);
  });
});

/** Orders of all ends, a VPN subscription, a case, a pause, a caller that waits, an endpoint and a forged webhook. */
async function causeEachKindOfSeries(stack: Stack): Promise<void> {
  const desk = new OrderDesk(stack);
  const nowhere = { url: `${stack.simulator.baseUrl}/nowhere` };
  const endpoint = await postOnce(stack.api, '/v1/webhook-endpoints', nowhere);
  expect(endpoint.status, endpoint.text).toBe(201);
  const forged = await new HttpClient(stack.api.baseUrl).post('/webhooks/service', { event: 'ping' });
  expect(forged.status).toBe(401);
  await desk.subscribe(301);
  for (let n = 0; n < 5; n += 1) {
    await desk.reaches(await desk.place(PACKAGE.completedAtOnce), 'completed');
    await desk.reaches(await desk.place(PACKAGE.processingThenCompleted), 'completed');
  }
  await desk.reaches(await desk.placeRefused(), 'failed');
  const processing = await desk.place(PACKAGE.staysProcessing);
  await desk.reaches(processing, 'processing');
  expect((await stack.api.get(`/v1/orders/${processing}?wait=1`)).status).toBe(200);
  await desk.reaches(await desk.place(PACKAGE.unavailable), 'held');
  await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
  await desk.reaches(await desk.place(PACKAGE.completedAtOnce), 'needs_attention');
  const pause = await postOnce(stack.api, '/v1/purchase-gate/pauses', { reason: 'stock-taking' });
  expect(pause.status, pause.text).toBe(201);
  await desk.reaches(await desk.place(PACKAGE.completedAtOnce), 'held');
}
