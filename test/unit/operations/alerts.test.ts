import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { circuitNames } from '#domain/gate/circuit.ts';
import { findingKinds } from '#domain/money/books.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { PROJECT, readProject } from '#test/support/compose.ts';
import { hasPrometheus } from '#test/support/servers/prometheus.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

const runbook = readProject('docs/runbook.md');
const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+m$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string().min(1), runbook: z.string() }),
});
const { groups } = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })) })
  .parse(parse(readProject('ops/prometheus/alerts.yaml')));
const rules = groups.flatMap((group) => group.rules);

/** The metric names in an expression. */
function metricsIn(expression: string): string[] {
  return expression.replaceAll(/"[^"]*"/g, '').match(/\b(?:reseller|process|nodejs)_[a-z_]+\b/g) ?? [];
}

describe('the alert rules', () => {
  it.each(rules)('$alert uses existing metrics', async ({ expr }) => {
    const { body } = await createMetrics().render();
    const types = new Map([...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
    const exposed = (name: string) =>
      types.has(name) || types.get(name.replace(/_(?:bucket|count|sum)$/, '')) === 'histogram';
    expect(metricsIn(expr).filter((name) => !exposed(name))).toEqual([]);
  });

  it.each(Object.keys(ATTENTION_REASONS))('%s has instructions in the runbook', (reason) => {
    const sections = runbook.slice(runbook.indexOf('## Alerts'));
    expect(sections).toContain(reason === 'debited_twice' ? '### DebitedTwice' : `\`${reason}\``);
  });

  it.each(rules)('$alert selects by existing label values', ({ expr }) => {
    const known = new Map<string, readonly string[]>([
      ['reason', Object.keys(ATTENTION_REASONS)],
      ['status', statusesOf('order')],
      ['outcome', ['ok', ...Object.keys(FAILURE_CLASSES)]],
      ['failure_class', Object.keys(FAILURE_CLASSES)],
      ['endpoint', Object.keys(ENDPOINTS)],
      ['kind', [...findingKinds, ...WORK_KINDS]],
      ['circuit', circuitNames],
      ['alertname', rules.map(({ alert }) => alert)],
      ['state', ['receiving', 'failing', 'disabled', 'given_up']],
    ]);
    const unknown = [...expr.matchAll(/\b([a-z_]+)[=!]~?"([^"]*)"/g)].flatMap(([, label = '', values = '']) =>
      // The empty value selects series without the label.
      values
        .split('|')
        .filter((value) => known.has(label) && !/^(?:\d|$)/.test(value) && !known.get(label)?.includes(value)),
    );
    expect(unknown).toEqual([]);
  });

  it.each(rules)('$alert selects buckets as Prometheus 2 and 3 write them', ({ expr }) => {
    expect(expr.match(/\ble="([^"+]+)"/g) ?? []).toEqual([]);
  });

  it('have each a section in the runbook, which has no others', () => {
    for (const { alert, annotations } of rules)
      expect(annotations.runbook).toBe(`{{ $externalLabels.documents }}docs/runbook.md#${alert.toLowerCase()}`);
    const sections = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    expect(sections.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });
});

describe('the saved queries of the runbook', () => {
  const queries = [...runbook.matchAll(/^\| .+? \| `([^`]*(?:=|STARTS_WITH| IN )[^`]*)`/gm)].map(
    ([, query = '']) => query,
  );
  const links = [...runbook.matchAll(/^\| \[[^\]]+\]\((\S+\/workflows\?query=\S+)\) \| `([^`]+)`/gm)].map(
    ([, link = '', query = '']) => ({ link, query }),
  );
  const own = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);

  it('are links that open the same query', () => {
    expect(links.map(({ query }) => query)).toEqual(queries);
    expect(links.map(({ link }) => new URL(link).searchParams.get('query'))).toEqual(queries);
  });

  it('use each of our search attributes, and no unknown one', () => {
    const used = new Set(
      queries.flatMap((query) => query.replaceAll(/'[^']*'/g, '').match(/\b[A-Z][a-z]+(?:[A-Z][a-z]+)*\b/g) ?? []),
    );
    expect([...used].filter((name) => !own.includes(name as never) && name !== 'ExecutionStatus')).toEqual([]);
    expect(own.filter((name) => !used.has(name))).toEqual([]);
  });

  it('contain only existing failure classes and reasons', () => {
    const named = (attribute: string) =>
      queries.flatMap((query) =>
        [...query.matchAll(new RegExp(`${attribute} (?:= |IN \\()([^)A]*)`, 'g'))].flatMap(([, list = '']) =>
          [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name),
        ),
      );
    expect(named('FailureClass').length).toBeGreaterThan(4);
    expect(named('FailureClass').filter((name) => !(name in FAILURE_CLASSES))).toEqual([]);
    expect(named('AttentionReason').length).toBeGreaterThan(2);
    expect(named('AttentionReason').filter((name) => !(name in ATTENTION_REASONS))).toEqual([]);
  });
});

const expectation = z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) });
const { tests } = z
  .object({ tests: z.array(z.object({ name: z.string(), alert_rule_test: z.array(expectation) })) })
  .parse(parse(readProject('ops/prometheus/alerts.test.yaml')));

const check = z.object({
  expr: z.literal('count by (alertname) (ALERTS{alertstate="firing"})'),
  exp_samples: z.array(z.object({ labels: z.string(), value: z.literal(1) })).max(1),
});
const { tests: causes } = z
  .object({ tests: z.array(z.object({ name: z.string(), promql_expr_test: z.array(check) })) })
  .parse(parse(readProject('ops/prometheus/causes.test.yaml')));

const RULES = join(PROJECT, 'ops/prometheus');
const testRules = (folder: string, file: string) =>
  spawnSync('promtool', ['test', 'rules', file], { cwd: folder, encoding: 'utf8' });

describe.skipIf(!hasPrometheus)('promtool', () => {
  it.each([
    ['each alert fires and stays silent as its cases say', 'alerts.test.yaml'],
    ['each cause makes one alert', 'causes.test.yaml'],
    ['several causes at the same time make the alert of each', 'independent.test.yaml'],
  ])('finds that %s', (_what, file) => {
    const { status, stdout, stderr } = testRules(RULES, file);
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });
});

describe('the cases of the alert rules', () => {
  it('let each alert stay silent once, and fire once', () => {
    const cases = tests.flatMap((test) => test.alert_rule_test);
    const named = (fires: boolean) =>
      cases.filter((each) => each.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);
    const alerts = rules.map(({ alert }) => alert).toSorted();
    expect(named(false).toSorted()).toEqual(alerts);
    expect(named(true).toSorted()).toEqual(alerts);
  });
});

describe('the causes with several consequences', () => {
  it('each expect one alert', () => {
    expect(causes.length).toBeGreaterThan(15);
    for (const { name, promql_expr_test: checks } of causes)
      expect(Math.max(...checks.map(({ exp_samples: samples }) => samples.length)), name).toBe(1);
  });

  it.skipIf(!hasPrometheus)('all fail without the conditions that silence consequences', () => {
    const folder = temporaryFolder('alerts');
    cpSync(RULES, folder, { recursive: true });
    writeFileSync(
      join(folder, 'alerts.yaml'),
      readProject('ops/prometheus/alerts.yaml')
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
