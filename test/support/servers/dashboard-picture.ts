import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { panelQueries, type PanelQuery } from '#test/support/servers/dashboard-queries.ts';
import { lines } from '#test/support/servers/line-plot.ts';
import type { Prometheus, Series } from '#test/support/servers/prometheus.ts';

type Lines = Readonly<Record<string, readonly (readonly [number, number])[]>>;

/** The name of a unit of Grafana, and by how much its values are multiplied. */
const UNITS: Readonly<Record<string, readonly [name: string, factor: number]>> = {
  s: ['seconds', 1],
  cps: ['per second', 1],
  bytes: ['MB', 1e-6],
  percentunit: ['%', 100],
};

/**
 * A dashboard as HTML: the same panels, queries and legends as in Grafana, but drawn with our own plots.
 *
 * @param seconds how far the lines reach into the past.
 */
export async function dashboardPage(dashboard: Dashboard, prometheus: Prometheus, seconds: number): Promise<string> {
  const panels: string[] = [];
  for (const { title, type, unit, queries } of panelQueries(dashboard)) {
    const series: Record<string, (readonly [number, number])[]> = {};
    for (const query of queries)
      for (const each of await prometheus.queryRange(query.expression, seconds)) {
        const points = relative(each).filter(([, value]) => Number.isFinite(value));
        if (points.length > 0) series[legend(query, each)] = points;
      }
    panels.push(type === 'stat' ? numberPanel(title, unit, series) : chartPanel(title, unit, series));
  }
  return (
    '<!doctype html><meta charset="utf-8"><style>body{display:flex;flex-wrap:wrap;gap:8px;width:1460px;margin:12px;' +
    'font-family:sans-serif;background:#eee}h1{width:100%;font-size:22px;margin:0}div{background:#fff;width:225px;' +
    'padding:8px 0;text-align:center;font-size:13px}b{display:block;font-size:26px;color:#1b6ca8;margin-top:6px}' +
    '.empty{width:720px}</style>' +
    `<h1>${dashboard.title ?? ''}</h1>${panels.join('')}`
  );
}

function numberPanel(title: string, unit: string, series: Lines): string {
  const [name, factor] = UNITS[unit] ?? ['', 1];
  const last = Object.values(series)[0]?.at(-1)?.[1];
  const value = last === undefined ? '–' : `${Number((last * factor).toPrecision(3))} ${name}`;
  return `<div>${title}<b>${value}</b></div>`;
}

function chartPanel(title: string, unit: string, series: Lines): string {
  if (Object.keys(series).length === 0) return `<div class="empty">${title}<p>no data</p></div>`;
  const [name, factor] = UNITS[unit] ?? ['', 1];
  const scaled: Record<string, (readonly [number, number])[]> = {};
  for (const [legendText, points] of Object.entries(series))
    scaled[legendText] = points.map(([at, value]) => [at, value * factor] as const);
  return lines(title, { x: 'seconds', y: name }, scaled);
}

function relative({ points }: Series): (readonly [number, number])[] {
  const start = points[0]?.[0] ?? 0;
  return points.map(([at, value]) => [at - start, value] as const);
}

/** The legend of a series, as Grafana fills it in. */
function legend({ legendFormat }: PanelQuery, { labels }: Series): string {
  return legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '');
}
