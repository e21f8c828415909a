/** `npm run generate:dashboards` */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { fulfilment } from '#scripts/dashboards/fulfilment.ts';
import { money } from '#scripts/dashboards/money.ts';
import { service } from '#scripts/dashboards/service.ts';
import { webhooks } from '#scripts/dashboards/webhooks.ts';
import { workers } from '#scripts/dashboards/workers.ts';

/** In the order of an operator's questions. */
export const DASHBOARDS: readonly Dashboard[] = [fulfilment, money, service, webhooks, workers];

export function dashboardFiles(): { readonly path: string; readonly text: string }[] {
  return DASHBOARDS.map((dashboard) => ({
    path: `ops/grafana/dashboards/${dashboard.uid?.replace('reseller-', '')}.json`,
    text: `${JSON.stringify(dashboard, null, 2)}\n`,
  }));
}

if (import.meta.main) {
  for (const { path, text } of dashboardFiles()) writeFileSync(join(import.meta.dirname, '../..', path), text);
}
