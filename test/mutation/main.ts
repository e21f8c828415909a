/**
 * Changes the rules about money, one small change at a time, and runs their tests: `npm run test:mutation [FILE…]`.
 * Stryker ignores code with `as const`, so it works on a copy without these words; they have no effect at run time.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';

const BOOKS =
  ['causes', 'debits-credits', 'journal'].map((part) => `unit/domain/money/reconciliation-${part}`).join(' ') +
  ' unit/domain/money/absence property/domain/reconciliation';

/** Only these tests run: a rule must not depend on tests that detect a change by accident. */
const RULES: Readonly<Record<string, string>> = {
  'platform/crypto/webhook-signatures.ts':
    'unit/crypto/webhook-signature unit/crypto/constant-time property/edges/signature',
  'domain/work/attempt-lifecycle.ts': 'unit/domain/work/attempt-lifecycle',
  'domain/gate/circuit.ts': 'property/domain/circuit',
  'domain/work/failure.ts': 'unit/domain/purchase/purchase-decision',
  'domain/work/hold-reasons.ts': 'unit/domain/purchase/purchase-decision',
  'domain/work/lifecycle.ts': 'unit/domain/work/lifecycle property/domain/task-position',
  'domain/money/money.ts': 'unit/domain/money/compare-amounts unit/domain/cancellation/refund property/domain/money',
  'domain/relay/observation.ts': 'unit/domain/relay/observation',
  'domain/operator/operator-actions.ts':
    'unit/domain/operator/operator-actions unit/domain/operator/operator-verdicts property/domain/operator-actions',
  'domain/purchase/purchase-decision.ts': 'unit/domain/purchase/purchase-decision property/domain/purchase-decision',
  'domain/gate/purchase-gate.ts': 'property/domain/purchase-gate',
  'domain/gate/spend-limit.ts': 'property/domain/purchase-gate',
  'domain/money/books.ts': BOOKS,
  'domain/money/reconciliation.ts': BOOKS,
  'domain/cancellation/refund.ts': 'unit/domain/cancellation/refund property/domain/refund',
  'domain/cancellation/refund-conditions.ts': 'property/domain/refund-conditions',
  'domain/relay/relay-decision.ts': 'unit/domain/relay/relay-decision',
  'domain/purchase/recovery.ts': 'unit/domain/purchase/restored-records',
  'domain/retry/retry-rules.ts':
    'unit/domain/retry/retry-rules property/domain/retry-rules unit/config/policy/retry-rules',
  'domain/purchase/send-claim.ts': 'unit/domain/purchase/send-claim property/domain/price-limit',
  'domain/relay/sweep-decision.ts': 'unit/domain/relay/sweep-decision',
  'upstream/client/error-mapping.ts':
    'unit/upstream/error-mapping-classes unit/upstream/error-mapping-details property/edges/upstream-mapping ' +
    'unit/domain/service/answer-about-us',
};
const MUTATED_RULES = Object.entries(RULES).map(([file, names]) => ({
  file,
  tests: names.split(' ').map((name) => `test/${name}.test.ts`),
}));

/** In percent, for the tests of each rule. */
const LEAST_SCORE = 90;

const PROJECT = join(import.meta.dirname, '../..');
const PACKAGE = import.meta.dirname;
const COPY = join(PROJECT, '.cache/mutation');
const REPORTS = join(PROJECT, 'test/artifacts/mutation');
const COPIED = ['package.json', 'db', 'domain', 'platform', 'simulator', 'test', 'upstream'];

const mutantsSchema = z.object({ mutants: z.array(z.object({ status: z.string() })) });
const reportSchema = z.object({ files: z.record(z.string(), mutantsSchema) });

const wanted = process.argv.slice(2);
const unknown = wanted.filter((file) => !MUTATED_RULES.some((rule) => rule.file === file));
if (unknown.length > 0) fail(`not in the list of rules: ${unknown.join(', ')}`);

if (!existsSync(join(PACKAGE, 'node_modules'))) run('npm', ['ci', '--ignore-scripts'], PACKAGE);
const missing = MUTATED_RULES.flatMap(({ file, tests }) => [file, ...tests]).filter(
  (file) => !existsSync(join(PROJECT, file)),
);
if (missing.length > 0) fail(`these files of the list are gone: ${missing.join(', ')}`);
copyTree();
const scores = MUTATED_RULES.filter(({ file }) => wanted.length === 0 || wanted.includes(file)).map(scoreOf);
print('\n| rule | changes | detected | score |\n|---|---|---|---|');
for (const { file, mutants, detected, percent } of scores)
  print(`| \`${file}\` | ${mutants} | ${detected} | ${percent.toFixed(1)} % |`);
const tooLow = scores.filter(({ percent }) => percent < LEAST_SCORE);
if (tooLow.length > 0)
  fail(
    `less than ${LEAST_SCORE} % detected: ${tooLow.map(({ file }) => file).join(', ')}; test/artifacts/mutation ` +
      'shows the undetected changes',
  );

function copyTree(): void {
  rmSync(COPY, { recursive: true, force: true });
  mkdirSync(COPY, { recursive: true });
  for (const name of COPIED) {
    cpSync(join(PROJECT, name), join(COPY, name), {
      recursive: true,
      filter: (path) => !['node_modules', 'artifacts', 'histories'].includes(basename(path)),
    });
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(COPY, 'node_modules'));
  for (const { file } of MUTATED_RULES) {
    const path = join(COPY, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/ as const(?=[ ;])/g, ''));
  }
}

function scoreOf(rule: (typeof MUTATED_RULES)[number]) {
  const { file } = rule;
  const name = file.replaceAll('/', '-').replace(/\.ts$/, '');
  const report = join(REPORTS, `${name}.json`);
  rmSync(report, { force: true });
  print(`\n== ${file}`);
  run(join(PACKAGE, 'node_modules/.bin/stryker'), ['run', 'test/mutation/stryker.config.mjs'], COPY, {
    MUTATION_RULE: JSON.stringify({ ...rule, report, page: join(REPORTS, `${name}.html`) }),
  });
  const { files } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  const statuses = Object.values(files)
    .flatMap(({ mutants }) => mutants.map(({ status }) => status))
    .filter((status) => status !== 'Ignored');
  const detected = statuses.filter((status) => status === 'Killed' || status === 'Timeout').length;
  const mutants = statuses.length;
  return { file, mutants, detected, percent: mutants === 0 ? 0 : (100 * detected) / mutants };
}

function run(command: string, args: readonly string[], cwd: string, environment: Record<string, string> = {}): void {
  const env = { ...process.env, ...environment };
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], env });
  if (status !== 0) fail(`${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
