import { describe, expect, it } from 'vitest';
import { createMetrics } from '#telemetry/metrics.ts';

describe('metrics', () => {
  it('of two instances are separate', async () => {
    const one = createMetrics({ processMetrics: false });
    const other = createMetrics({ processMetrics: false });
    one.upstreamCalls.inc({ endpoint: 'createOrder', outcome: 'timeout' });
    expect((await one.render()).body).toContain(
      'reseller_upstream_calls_total{endpoint="createOrder",outcome="timeout"} 1',
    );
    expect((await other.render()).body).not.toContain('createOrder');
  });

  it('include memory and event loop of the process, unless switched off', async () => {
    expect((await createMetrics().render()).body).toContain('process_resident_memory_bytes');
    expect((await createMetrics({ processMetrics: false }).render()).body).not.toContain('process_');
  });

  it('have no value for a gauge that this process does not set', async () => {
    const metrics = createMetrics({ processMetrics: false });
    const { body } = await metrics.render();
    const gauges = [...body.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name);
    expect(gauges).toContain('reseller_gate_pauses');
    for (const name of gauges) expect(body).not.toMatch(new RegExp(`^${name}[ {]`, 'm'));
    metrics.gatePauses.set(0);
    expect((await metrics.render()).body).toContain('reseller_gate_pauses 0');
  });

  it('are refreshed before each render', async () => {
    const metrics = createMetrics({ processMetrics: false });
    let held = 1;
    metrics.refreshWith(async () => metrics.work.set({ kind: 'order', status: 'held' }, held));
    expect((await metrics.render()).body).toContain('reseller_work{kind="order",status="held"} 1');
    held = 2;
    expect((await metrics.render()).body).toContain('reseller_work{kind="order",status="held"} 2');
  });

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
