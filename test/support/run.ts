/**
 * `npm test`: lint, types, boundaries, the rules, the simulator, workflows, the core of the integration, a killed worker
 * and an outage of Temporal. `npm test -- --all`: every test, a quick run of the benchmark, a bounded run of
 * schemathesis, other people's tools for OpenAPI, and the packages of the clients. All checks run, also after failures;
 * totals are printed. Other arguments go to vitest: `npm test -- --project fast`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { PROJECT } from '#test/support/compose.ts';

const ARTIFACTS = join(PROJECT, 'test/artifacts');
const REPORT = join(ARTIFACTS, 'vitest.json');
/** The last line of `.ci/run`. */
const SUMMARY = join(ARTIFACTS, 'summary.txt');

const ALL = '--all';
/** Left to `--all`: edges, slow waits and whole installations, which the core does not need to be judged. */
const ONLY_WITH_ALL = [
  'test/foreign/**',
  'test/fault/!(worker-killed|temporal-outage).test.ts',
  'test/integration/{abuse,cli,events,exports,platform,service,temporal}/**',
  'test/integration/api/**/*-browser.test.ts',
  'test/integration/db/{database-tls,installation,pgbouncer}.test.ts',
  'test/integration/gate/{first-purchase-check-*,purchase-gate-stack}.test.ts',
  'test/integration/money/reconcile-command.test.ts',
  'test/integration/orders/{batch-cancel,implausible-reports,order-retry-policy}.test.ts',
  'test/integration/orders/order-{counts,operator,privacy}.test.ts',
  'test/integration/purchases/{cancellation-*,half-filled,operator-updates}.test.ts',
  'test/workflow/{outage,vpn-subscription-silence}.test.ts',
];

mkdirSync(ARTIFACTS, { recursive: true });
rmSync(REPORT, { force: true });
rmSync(SUMMARY, { force: true });

const wanted = process.argv.slice(2);
const runsAll = wanted.includes(ALL);
const checks = [
  check('TypeScript client', 'npm', ['run', '--silent', 'generate:client']),
  // Only other tests than those of the core need the cluster, whose build takes minutes.
  check('Temporal servers', 'node', ['cli/reseller.mjs', 'prepare', ...(runsAll ? ['--cluster'] : [])]),
  check('lint', 'npm', ['run', '--silent', 'lint']),
  check('types', 'tsc', []),
  check('import boundaries', 'npm', ['run', '--silent', 'check:boundaries']),
  check('unused files, exports and packages', 'npm', ['run', '--silent', 'check:unused']),
];
const outputs = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
const chosen = [
  ...wanted.filter((each) => each !== ALL),
  ...(runsAll ? [] : ONLY_WITH_ALL.flatMap((file) => ['--exclude', file])),
];
if (runsAll) checks.push(check('tools that check the Helm chart', 'node', ['test/support/kubernetes/main.ts']));
const testsEndedWell = check('tests', 'vitest', ['run', ...outputs, ...chosen]);
if (runsAll) {
  // Every call must be requested in this time, also on a machine that is slowed down by others.
  const fuzz = ['run', '--silent', 'test:api-fuzz', '--', '--seconds', '240'];
  checks.push(check('API, by schemathesis', 'npm', fuzz));
  checks.push(check('description of the API, by other tools', 'npm', ['run', '--silent', 'test:openapi']));
  checks.push(check('packages of the clients', 'npm', ['run', '--silent', 'test:clients']));
}
const tests = testTotals(testsEndedWell);
const passed = tests.passed + checks.filter((each) => each).length;
const failed = tests.failed + checks.filter((each) => !each).length;
const line = `${passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`;
writeFileSync(SUMMARY, `${line}\n`);
print(`\n${line}`);
process.exitCode = failed > 0 || tests.passed === 0 ? 1 : 0;

function check(name: string, command: string, args: readonly string[]): boolean {
  print(`\n== ${name}`);
  const started = Date.now();
  const { status, error } = spawnSync(command, args, { cwd: PROJECT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) print(`${command}: ${error.message}`);
  const passed = status === 0;
  print(`== ${name}: ${passed ? 'passed' : 'FAILED'} (${((Date.now() - started) / 1_000).toFixed(1)} s)`);
  return passed;
}

/** A file that could not be loaded, and an error outside any test, have no failed test. They count as one failure. */
function testTotals(endedWell: boolean) {
  const report = readReport();
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + brokenFiles;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !endedWell ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function readReport() {
  const schema = z.object({
    numPassedTests: z.int(),
    numFailedTests: z.int(),
    numPendingTests: z.int(),
    numTodoTests: z.int(),
    testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
  });
  try {
    return schema.parse(JSON.parse(readFileSync(REPORT, 'utf8')));
  } catch (error) {
    print(`the test runner left no readable report: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
