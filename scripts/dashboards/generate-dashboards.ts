/** `npm run generate:dashboards`: writes the Grafana dashboards of `ops/grafana/dashboards`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardFiles } from '#scripts/dashboards/dashboards.ts';

for (const { path, text } of dashboardFiles()) writeFileSync(join(import.meta.dirname, '../..', path), text);
