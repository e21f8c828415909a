import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import * as z from 'zod';

const panel = z.object({
  title: z.string().min(1),
  description: z.string().min(1),
  type: z.enum(['stat', 'timeseries']),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }),
  targets: z.array(z.object({ expr: z.string().min(1), legendFormat: z.string().min(1), refId: z.string() })).min(1),
});

/** One query of a panel. */
export interface PanelQuery {
  readonly legendFormat: string;
  /** PromQL, with Grafana's `$__rate_interval` replaced. */
  readonly expression: string;
}

/** Long enough for `rate` with a scrape each second. */
const RATE_INTERVAL = '15s';

/** The panels of a dashboard with their queries. @throws ZodError for a panel that lacks a title or a description. */
export function panelQueries(dashboard: Dashboard) {
  return z
    .array(panel)
    .parse(dashboard.panels)
    .map(({ title, type, fieldConfig, targets }) => ({
      title,
      type,
      unit: fieldConfig.defaults.unit,
      queries: targets.map(({ expr, legendFormat }) => ({
        legendFormat,
        expression: expr.replaceAll('$__rate_interval', RATE_INTERVAL),
      })),
    }));
}
