import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { createMetrics } from '#telemetry/metrics.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const DOCUMENT = readFileSync(join(PROJECT, 'docs/reference/metrics.md'), 'utf8');

/**
 * Rows of the form `` | `name` | type | labels | meaning | alerts | ``. Rows of gauges also name the source of their
 * values.
 */
const rows = [...DOCUMENT.matchAll(/^\| `(reseller_\w+)` \| (\w+)(?: of the database)? \| .*\| (.+?) \|$/gm)].map(
  ([, name = '', type = '', alerts = '']) => ({ name, type, alerts }),
);

const groups = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});

describe('docs/reference/metrics.md', () => {
  it('has exactly one row for each metric, with its type', async () => {
    const { body } = await createMetrics({ processMetrics: false }).render();
    const shown = [...body.matchAll(/^# TYPE (reseller_\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(rows.map(({ name, type }) => `${name} ${type}`).toSorted()).toEqual(shown.toSorted());
  });

  it('names the alerts of each metric, and no others', () => {
    const alerts = groups
      .parse(parse(readFileSync(join(PROJECT, 'ops/prometheus/alerts.yaml'), 'utf8')))
      .groups.flatMap(({ rules }) => rules);
    for (const { name, alerts: named } of rows) {
      const going = alerts
        .filter(({ expr }) => new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`).test(expr))
        .map(({ alert }) => alert);
      expect([...named.matchAll(/\[(\w+)\]/g)].map(([, alert = '']) => alert).toSorted(), name).toEqual(
        going.toSorted(),
      );
    }
  });
});
