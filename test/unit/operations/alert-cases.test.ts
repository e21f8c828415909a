import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { PROJECT } from '#test/support/compose.ts';
import { hasPrometheus } from '#test/support/servers/prometheus.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const FOLDER = join(PROJECT, 'ops/prometheus');
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');

const expectation = z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) });
const { tests } = z
  .object({ tests: z.array(z.object({ name: z.string(), alert_rule_test: z.array(expectation) })) })
  .parse(parse(read('alerts.test.yaml')));
const alerts = [...read('alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

const { tests: causes } = z
  .object({
    tests: z.array(
      z.object({
        name: z.string(),
        promql_expr_test: z.array(
          z.object({
            expr: z.literal('count by (alertname) (ALERTS{alertstate="firing"})'),
            exp_samples: z.array(z.object({ labels: z.string(), value: z.literal(1) })).max(1),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('causes.test.yaml')));

function testRules(folder: string, file: string) {
  return spawnSync('promtool', ['test', 'rules', file], { cwd: folder, encoding: 'utf8' });
}

/** A copy of the rules and their cases, with changed rules. */
function changedRules(change: (rules: string) => string): string {
  const folder = temporaryFolder('alerts');
  cpSync(FOLDER, folder, { recursive: true });
  writeFileSync(join(folder, 'alerts.yaml'), change(read('alerts.yaml')));
  return folder;
}

describe.skipIf(!hasPrometheus)('promtool', () => {
  it.each([
    ['each alert fires and stays silent as its cases say', 'alerts.test.yaml'],
    ['each cause makes one alert', 'causes.test.yaml'],
    ['several causes at the same time make the alert of each', 'independent.test.yaml'],
  ])('finds that %s', (_what, file) => {
    const { status, stdout, stderr } = testRules(FOLDER, file);
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });
});

describe('the cases of the alert rules', () => {
  it('let each alert stay silent once, and fire once', () => {
    const cases = tests.flatMap((test) => test.alert_rule_test);
    const named = (fires: boolean) =>
      cases.filter((each) => each.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);

    expect(named(false).toSorted()).toEqual(alerts.toSorted());
    expect(named(true).toSorted()).toEqual(alerts.toSorted());
  });
});

describe('the causes with several consequences', () => {
  it('each expect one alert', () => {
    expect(causes.length).toBeGreaterThan(15);
    for (const { name, promql_expr_test: checks } of causes)
      expect(Math.max(...checks.map(({ exp_samples: samples }) => samples.length)), name).toBe(1);
  });

  it.skipIf(!hasPrometheus)('all fail without the conditions that silence consequences', () => {
    const folder = changedRules((rules) =>
      rules
        .replaceAll(/^ +unless on \(\w*\) .*\n/gm, '')
        .replaceAll(/reason!~"[^"]*"/g, '')
        .replaceAll('{state="receiving"}', '')
        .replaceAll(/^ +- \(sum\(max by .*\n/gm, '')
        .replaceAll(' unless on (kind) max_over_time(reseller_gate_paused[1h]) > 0', '')
        .replaceAll(/circuit=~"service_down\|rate_limited"/g, ''),
    );
    const { stdout, stderr } = testRules(folder, 'causes.test.yaml');
    const failed = (stdout + stderr).match(/^ *expr: /gm) ?? [];

    expect(failed.length).toBe(causes.flatMap((cause) => cause.promql_expr_test).length);
  });
});
