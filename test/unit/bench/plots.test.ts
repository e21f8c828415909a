import { describe, expect, it } from 'vitest';
import { plotsOf } from '#bench/plots/plots.ts';
import { compare, measure } from '#bench/support/comparison.ts';

const common = { measured: 'something', unit: 'ms', better: 'lower' } as const;
const peer = { id: 'dbos', measured: 'the same', rounds: [10] };
const limit = { of: 'ratio_to_peer', bound: 'at_most', amount: 2, reason: 'test' } as const;

describe('the plots of a run', () => {
  it('show each figure against its aim, so that more is better', () => {
    const { 'aims.svg': aims } = plotsOf({
      scenarios: [compare({ ...common, id: 'some.thing', ours: [5], peer, limit })],
    });
    expect(aims).toContain('>some.thing<');
    expect(aims).toContain('>4<');
  });

  it('show CPU time in its parts, and lines of what was measured over time', () => {
    const plots = plotsOf({
      scenarios: [
        compare({
          ...common,
          id: 'whole_order.cpu.dbos',
          ours: [5],
          peer,
          details: { ours_api_cpu_ms: 4, ours_worker_cpu_ms: 1, dbos_application_cpu_ms: 2 },
        }),
        measure({
          ...common,
          id: 'order_faults.service_down',
          values: [1],
          series: {
            ours: [
              [0, 1],
              [1, 200],
            ],
          },
        }),
      ],
    });
    expect(Object.keys(plots)).toEqual(['cpu.svg', 'service-down.svg']);
    expect(plots['cpu.svg']).toContain('>5 ms<');
    expect(plots['service-down.svg']).toMatch(/<polyline [^>]*points="64\.0,\d+\.\d 696\.0,44\.0"/);
  });

  it('leave out what was not measured', () => {
    expect(plotsOf({ scenarios: [measure({ ...common, id: 'some.thing', values: [1] })] })).toEqual({});
  });

  it('are well-formed where a name has signs of XML', () => {
    const { 'aims.svg': aims = '' } = plotsOf({
      scenarios: [compare({ ...common, id: 'a<b&"c', ours: [5], peer, limit })],
    });
    expect(aims).toContain('a&lt;b&amp;&quot;c');
  });
});
