import { describe, expect, it } from 'vitest';
import { createMetrics } from '#telemetry/metrics.ts';

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
