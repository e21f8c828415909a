/** Grafana's own builders check names and types of the fields. */
import type * as cog from '@grafana/grafana-foundation-sdk/cog';
import { BigValueColorMode, BigValueGraphMode, ReduceDataOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  type Dashboard,
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** The files then work in each Grafana. */
const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const TAG = 'reseller-fulfilment';

/** A number, seconds, events per second, bytes, a share from 0 to 1, money without currency. */
export type Unit = 'short' | 's' | 'cps' | 'bytes' | 'percentunit' | 'locale';

/** 4 of 24 columns. @param expression PromQL with one series. @param redFrom without it the number is never red. */
export function number(
  title: string,
  description: string,
  unit: Unit,
  expression: string,
  redFrom?: number,
): cog.Builder<Panel> {
  const steps = [{ value: null, color: 'green' }, ...(redFrom === undefined ? [] : [{ value: redFrom, color: 'red' }])];
  return new StatBuilder()
    .title(title)
    .description(description)
    .datasource(SOURCE)
    .span(4)
    .height(4)
    .unit(unit)
    .noValue('–')
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .graphMode(BigValueGraphMode.Area)
    .colorMode(BigValueColorMode.Value)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
    .withTarget(new DataqueryBuilder().expr(expression).legendFormat(title).refId('A'));
}

/** Takes 12 of 24 columns. @param lines at most three: PromQL by its legend, in which Grafana replaces `{{label}}`. */
export function chart(
  title: string,
  description: string,
  unit: Unit,
  lines: Readonly<Record<string, string>>,
): cog.Builder<Panel> {
  const panel = new TimeseriesBuilder()
    .title(title)
    .description(description)
    .datasource(SOURCE)
    .span(12)
    .height(8)
    .unit(unit)
    .min(0)
    .fillOpacity(8)
    .lineWidth(2);
  Object.entries(lines).forEach(([legend, expression], place) =>
    panel.withTarget(new DataqueryBuilder().expr(expression).legendFormat(legend).refId('ABC'.charAt(place))),
  );
  return panel;
}

/** @param by labels, separated by commas; may be empty. */
export function p95(histogram: string, by: string): string {
  return quantile(0.95, histogram, by);
}

/** @param share from 0 to 1. @param selector of series, in braces. */
export function quantile(share: number, histogram: string, by: string, selector = ''): string {
  const labels = ['le', ...by.split(',').filter((label) => label !== '')].join(', ');
  return `histogram_quantile(${share}, sum by (${labels}) (rate(${histogram}_bucket${selector}[$__rate_interval])))`;
}

/** @param selector of series, in braces; may be empty. */
export function perSecond(counter: string, by: string, selector = ''): string {
  return `sum by (${by}) (rate(${counter}${selector}[$__rate_interval]))`;
}

/** @param name of its file and of its address in Grafana. */
export function dashboard(
  name: string,
  title: string,
  description: string,
  panels: readonly cog.Builder<Panel>[],
): Dashboard {
  const builder = new DashboardBuilder(`Reseller: ${title}`)
    .uid(`reseller-${name}`)
    .description(description)
    .tags([TAG])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .link(new DashboardLinkBuilder('Dashboards').type(DashboardLinkType.Dashboards).tags([TAG]).keepTime(true));
  for (const panel of panels) builder.withPanel(panel);
  return builder.build();
}
