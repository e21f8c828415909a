import { lines, ratioBars, stackedBars } from '#bench/plots/svg.ts';
import type { BenchResults, ScenarioResult } from '#bench/results.ts';

/** The plots of a run: file names and their SVG text. Those whose figures were not measured are missing. */
export function plotsOf({ scenarios }: Pick<BenchResults, 'scenarios'>): Readonly<Record<string, string>> {
  const named = new Map(scenarios.map((scenario) => [scenario.id, scenario]));
  const plots = {
    'aims.svg': aims(scenarios),
    'cpu.svg': cpu(named.get('whole_order.cpu.dbos'), named.get('whole_order.cpu.restate')),
    'load-steady.svg': overTime(named.get('order_load.steady.dbos'), 'A steady load'),
    'load-burst.svg': overTime(named.get('order_load.burst.dbos'), 'A ten-fold burst'),
    'service-down.svg': overTime(named.get('order_faults.service_down'), 'The service is down, then answers 429'),
    'claims.svg': claims(scenarios),
  };
  return Object.fromEntries(Object.entries(plots).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Each figure with an aim, divided by its aim; turned so that more is better. */
function aims(scenarios: readonly ScenarioResult[]): string | undefined {
  const bars = scenarios.flatMap(({ id, limit, ratio_to_limit: ratio, limit_met: good }) => {
    // Histories have a table of their own.
    if (limit === null || ratio === null || ratio <= 0 || id.startsWith('history.')) return [];
    const value = Number((limit.bound === 'at_least' ? ratio : 1 / ratio).toPrecision(3));
    return [{ label: id.length > 34 ? `${id.slice(0, 33)}…` : id, value, good: good === true }];
  });
  return bars.length === 0 ? undefined : ratioBars('Figures against their aims: from 1 on, the aim is met', bars);
}

/** CPU time of an order by contestant, in parts. */
function cpu(...figures: readonly (ScenarioResult | undefined)[]): string | undefined {
  const bars = new Map<string, Record<string, number>>();
  for (const { details } of figures.filter((figure) => figure !== undefined)) {
    for (const [name, ms] of Object.entries(details)) {
      const [, contestant = '', process = ''] = /^([a-z]+)_(.+)_cpu_ms$/.exec(name) ?? [];
      bars.set(contestant, { ...bars.get(contestant), [process]: ms });
    }
  }
  if (bars.size === 0) return undefined;
  return stackedBars(
    'CPU time of one order, 50 at a time',
    'ms',
    [...bars].map(([label, parts]) => ({ label, parts })),
  );
}

function overTime(figure: ScenarioResult | undefined, title: string): string | undefined {
  if (figure === undefined || Object.keys(figure.series).length === 0) return undefined;
  return lines(`${title}: median time to delivery`, { x: 'second of the arrival', y: 'ms' }, figure.series);
}

function claims(scenarios: readonly ScenarioResult[]): string | undefined {
  const figure = scenarios.find(({ id }) => id.startsWith('scale.claims.'));
  if (figure === undefined) return undefined;
  return lines('Claims a second', { x: 'orders of the day', y: figure.unit, logarithmicX: true }, figure.series);
}
