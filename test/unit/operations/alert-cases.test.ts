import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { PROJECT } from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const FOLDER = join(PROJECT, 'ops/prometheus');
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');

const expectation = z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) });
const { tests } = z
  .object({ tests: z.array(z.object({ name: z.string(), alert_rule_test: z.array(expectation) })) })
  .parse(parse(read('alerts.test.yaml')));
const alerts = [...read('alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

/** `promtool` comes with Prometheus; Debian's package is `prometheus`. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) {
  process.stderr.write('promtool was not found: the alerts were NOT evaluated (apt-get install prometheus)\n');
}

function testRules(folder: string) {
  return spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd: folder, encoding: 'utf8' });
}

describe('the cases of the alert rules', () => {
  it('let each alert stay silent once, and fire once', () => {
    const cases = tests.flatMap((test) => test.alert_rule_test);
    const named = (fires: boolean) =>
      cases.filter((each) => each.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);

    expect(named(false).toSorted()).toEqual(alerts.toSorted());
    expect(named(true).toSorted()).toEqual(alerts.toSorted());
  });

  it.skipIf(!hasPromtool)('pass by promtool', () => {
    const { status, stdout, stderr } = testRules(FOLDER);

    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  it.skipIf(!hasPromtool)('fail by promtool when a limit, a time or a text of a rule changes', () => {
    for (const [before, after] of [
      ['reseller_relay_lag_seconds) > 45', 'reseller_relay_lag_seconds) > 44'],
      ['up{job=~"reseller-.*"} == 0\n        for: 2m', 'up{job=~"reseller-.*"} == 0\n        for: 1m'],
      ['The balance of the wallet is below', 'The balance is below'],
    ] as const) {
      const folder = temporaryFolder('alerts');
      cpSync(FOLDER, folder, { recursive: true });
      expect(read('alerts.yaml')).toContain(before);
      writeFileSync(join(folder, 'alerts.yaml'), read('alerts.yaml').replace(before, after));

      expect(testRules(folder).status, after).toBe(1);
    }
  });
});
