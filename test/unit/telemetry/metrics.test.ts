import { describe, expect, it } from 'vitest';
import { createApp } from '#api/app.ts';
import { createApiParts } from '#api/composition.ts';
import { readApiConfig, readWorkerConfig } from '#config/config.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { PRODUCT_ENVIRONMENT } from '#test/support/product-environment.ts';
import { createWorkerParts } from '#worker/composition.ts';

describe('metrics', () => {
  it('stay readable while a refresh fails, and count that', async () => {
    const metrics = createMetrics({ processMetrics: false });
    metrics.casesOpen.set({ reason: 'outcome_unknown' }, 3);
    metrics.refreshWith(async () => {
      throw new Error('the database is down');
    });
    metrics.refreshWith(() => {
      throw new Error('and this one breaks at once');
    });
    const { body } = await metrics.render();
    expect(body).toContain('reseller_cases_open{reason="outcome_unknown"} 3');
    expect(body).toContain('reseller_metrics_refresh_failures_total 2');
  });

  it('stay readable while a refresh hangs, count that, and do not begin another one beside it', async () => {
    const metrics = createMetrics({ processMetrics: false, refreshLimitMs: 10 });
    const { promise: answer, resolve: arrive } = Promise.withResolvers<number>();
    let begun = 0;
    metrics.refreshWith(async () => {
      begun += 1;
      metrics.casesOpen.set({ reason: 'outcome_unknown' }, await answer);
    });
    metrics.renderAlso(async () => `temporal_cases ${await answer}\n`);
    await metrics.render();
    expect((await metrics.render()).body).toContain('reseller_metrics_refresh_failures_total 4');
    expect(begun).toBe(1);

    arrive(3);
    const { body } = await metrics.render();
    expect(body).toContain('reseller_cases_open{reason="outcome_unknown"} 3');
    expect(body).toContain('temporal_cases 3');
    expect(body).toContain('reseller_metrics_refresh_failures_total 4');
  });
});

const ENVIRONMENT = { ...PRODUCT_ENVIRONMENT, SERVICE_WEBHOOK_SECRETS: 'whsec_not_used_here' };

/** The exposition text of a new API process. Its gauges are read from no database. */
async function shownByApi(): Promise<string> {
  const parts = createApiParts(readApiConfig(ENVIRONMENT));
  createApp(parts.dependencies);
  const { body } = await parts.dependencies.metrics.render();
  await parts.close();
  return body;
}

async function shownByWorker(): Promise<string> {
  const parts = createWorkerParts(readWorkerConfig(ENVIRONMENT));
  const { body } = await parts.metrics.render();
  await parts.close();
  return body;
}

describe('a new process counts from 0, so that the first event is an increase', () => {
  it.each([
    ['API', shownByApi],
    ['worker', shownByWorker],
  ])('the %s: calls to the service whose outcome makes an alert at once, or ends one', async (_process, shown) => {
    const body = await shown();
    for (const outcome of ['contract_drift', 'insufficient_balance', 'not_approved', 'unauthorized', 'ok']) {
      for (const endpoint of ['login', 'createOrder', 'listWalletTransactions', 'getVpnSubscription'])
        expect(body).toContain(`reseller_upstream_calls_total{endpoint="${endpoint}",outcome="${outcome}"} 0`);
    }
  });

  it('the API: webhooks of the service by result', async () => {
    const body = await shownByApi();
    for (const result of ['accepted', 'duplicate', 'quarantined', 'replayed'])
      expect(body).toContain(`reseller_webhook_deliveries_total{result="${result}"} 0`);
  });
});
