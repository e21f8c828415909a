import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { freePort } from '#cli/embedded/ports.ts';
import { PROJECT } from '#test/support/compose.ts';
import { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { hasPrometheus } from '#test/support/servers/prometheus.ts';
import { definedOf, startStack, type Stack } from '#test/support/servers/stack.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const RULES = readFileSync(join(PROJECT, 'ops/prometheus/alerts.yaml'), 'utf8');

/** Scrapes of real processes, each of which stands for some minutes of the life of an installation. */
class Recording {
  readonly #series = new Map<string, string[]>();
  #minutes = 0;

  /** @param targets base addresses by `job/instance`. One that does not answer is down. */
  async scrape(targets: Readonly<Record<string, string>>, minutes = 1): Promise<string> {
    const texts: string[] = [];
    const present = new Set<string>();
    for (const [target, address] of Object.entries(targets)) {
      const [job, instance] = target.split('/');
      const labels = `job="${job}",instance="${instance}"`;
      const text = await fetch(`${address}/metrics`).then(
        (answer) => (answer.ok ? answer.text() : undefined),
        () => undefined,
      );
      this.#add(`up{${labels}}`, text === undefined ? '0' : '1', minutes, present);
      for (const [, name = '', own, value = ''] of (text ?? '').matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm))
        if (RULES.includes(name.replace(/_(bucket|count|sum)$/, '')))
          this.#add(`${name}{${[own, labels].filter(Boolean).join()}}`, value, minutes, present);
      texts.push(text ?? '');
    }
    for (const [name, values] of this.#series)
      if (!present.has(name)) for (let n = 0; n < minutes; n += 1) values.push(n === 0 ? 'stale' : '_');
    this.#minutes += minutes;
    return texts.join('\n');
  }

  /** The alerts that fire at any time of the recording. */
  alerts(rules: string): string[] {
    const folder = temporaryFolder('healthy');
    writeFileSync(join(folder, 'alerts.yaml'), rules);
    const fired = 'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1d]))';
    const test = {
      interval: '1m',
      input_series: [...this.#series].map(([series, values]) => ({ series, values: values.join(' ') })),
      promql_expr_test: [{ expr: fired, eval_time: `${this.#minutes}m`, exp_samples: [] }],
    };
    const file = join(folder, 'test.yaml');
    writeFileSync(file, stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests: [test] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    const found = [...(stdout + stderr).matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name);
    if ((status === 0) !== (found.length === 0)) throw new Error(stdout + stderr);
    return found;
  }

  #add(series: string, value: string, minutes: number, present: Set<string>): void {
    present.add(series);
    const values = this.#series.get(series) ?? Array.from({ length: this.#minutes }, () => '_');
    for (let n = 0; n < minutes; n += 1) values.push(value);
    this.#series.set(series, values);
  }
}

describe.skipIf(!hasPrometheus)('a healthy installation', () => {
  const recording = new Recording();
  let stack: Stack;
  let idle = '';

  beforeAll(async () => {
    stack = await startStack({ start: ['simulator'], environment: { 'books.every': '2s', 'catalogue.every': '2s' } });
    const of = (process: 'api' | 'worker', port: string) => `http://127.0.0.1:${stack.environments[process][port]}`;
    const api = { 'reseller-api/a': of('api', 'API_PORT') };
    const worker = { 'reseller-worker/a': of('worker', 'WORKER_PROBE_PORT') };
    const both = { ...api, ...worker };
    const admin = new SimulatorAdmin(stack.simulator);
    // A comparison during the purchases may see a balance and movements of different moments.
    const booksAgree = async (targets: Readonly<Record<string, string>>) => {
      const { length } = await admin.requests('listWalletTransactions');
      await waitFor('a later comparison finds no difference', async () => {
        const text = await new Recording().scrape(targets);
        const differs = /^reseller_books_findings\{kind="balance_differs"\} [1-9]/m.test(text);
        return !differs && (await admin.requests('listWalletTransactions')).length > length + 2;
      });
    };
    const answers = (address: string) => waitFor(`${address} answers`, () => fetch(`${address}/metrics`));

    const starting = Promise.all([stack.start('api'), stack.start('worker')]);
    await Promise.all(Object.values(both).map(answers));
    await recording.scrape(both, 2);
    await starting;
    await recording.scrape(both, 5);

    await buyOfEachKind(stack);
    await booksAgree(worker);
    await recording.scrape(both, 5);

    // The calls of the upkeep go on, and the first of them renews the token.
    await stack.simulator.post('/simulator/tokens/revoke', { environment: 'sandbox' });
    for (let n = 0; n < 6; n += 1) {
      const { length } = await admin.requests('listPackages');
      await waitFor('the catalogue is read again', async () => (await admin.requests('listPackages')).length > length);
      idle = await recording.scrape(both, 10);
    }

    const port = await freePort();
    const environment = { ...definedOf(stack.environments.worker), WORKER_PROBE_PORT: String(port) };
    const address = `http://127.0.0.1:${port}`;
    const next = { ...api, 'reseller-worker/b': address };
    const program = { name: 'second worker', script: 'worker/main.ts', environment, readyUrl: `${address}/readyz` };
    await using second = await startProcess(program);
    await recording.scrape({ ...both, ...next }, 1);
    await stack.process('worker').stop();
    await stack.process('api').stop();
    await recording.scrape(next, 1);
    await stack.start('api');
    await buyOfEachKind(stack);
    await booksAgree({ 'reseller-worker/b': address });
    await recording.scrape(next, 30);
    await second.stop();
  });
  afterAll(() => stack.stop());

  it('fires no alert: at its start, with purchases, when its token ends, in an idle hour, in a rolling deploy', () => {
    expect(recording.alerts(RULES)).toEqual([]);
    expect(idle, 'a token was renewed').toMatch(/outcome="unauthorized".* [1-9]/);
  });

  it('would fire one that counts each refusal of a token, or whose limit an idle installation passes', () => {
    const changed = (from: string | RegExp, to: string) => {
      expect(RULES).toMatch(from);
      return recording.alerts(RULES.replace(from, to));
    };
    expect(changed(/ +unless on \(endpoint\) sum by .*\n/, '')).toEqual(['ServiceRefusesUs']);
    expect(changed(/(up\{job=~"reseller-\.\*"\}\n +)for: 2m/, '$1for: 0m')).toEqual(['ProcessDown']);
    const age = 'max(reseller_books_age_seconds) >';
    expect(changed(`${age} 3600`, `${age} 0`)).toEqual(['BooksStale']);
  });
});

async function buyOfEachKind(stack: Stack): Promise<void> {
  const desk = new OrderDesk(stack);
  await desk.reaches(await desk.place(PACKAGE.processingThenCompleted), 'completed');
  const esim = await desk.newEsim();
  await desk.topupReaches(await desk.topUp(esim, PACKAGE.completedAtOnce), 'completed');
  await desk.subscriptionReaches(await desk.subscribe(301), 'active');
}
