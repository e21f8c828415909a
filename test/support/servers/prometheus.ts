import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { atEnd } from '#test/support/at-end.ts';
import { readProject } from '#test/support/compose.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** Prometheus is a package of the distributions: `apt-get install prometheus`. */
export const hasPrometheus = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0);
if (!hasPrometheus)
  process.stderr.write(
    'Prometheus was not found: metrics and dashboards were NOT checked (apt-get install prometheus)\n',
  );

const settings = z.looseObject({
  global: z.looseObject({}),
  scrape_configs: z.array(z.looseObject({ job_name: z.string() })).min(1),
});

const answer = z.object({
  status: z.literal('success'),
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()) })) }),
});

/** A Prometheus server with `ops/prometheus/prometheus.yaml`, that reads processes of this machine each second. */
export class Prometheus implements AsyncDisposable {
  readonly #child: Child;
  readonly #http: HttpClient;

  private constructor(child: Child, port: number) {
    this.#child = child;
    this.#http = new HttpClient(`http://127.0.0.1:${port}`);
  }

  /** @param targets addresses (`127.0.0.1:3000`) by job. @throws Error for a job that the file does not have. */
  static async start(targets: Readonly<Record<string, readonly string[]>>): Promise<Prometheus> {
    const folder = temporaryFolder('prometheus');
    const file = settings.parse(parse(readProject('ops/prometheus/prometheus.yaml')));
    const jobs = file.scrape_configs.map(({ job_name }) => job_name);
    const unknown = Object.keys(targets).find((job) => !jobs.includes(job));
    if (unknown !== undefined) throw new Error(`ops/prometheus/prometheus.yaml has no job ${unknown}`);
    writeFileSync(join(folder, 'alerts.yaml'), readProject('ops/prometheus/alerts.yaml'));
    writeFileSync(
      join(folder, 'prometheus.yaml'),
      stringify({
        ...file,
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        scrape_configs: jobs.map((job) => ({ job_name: job, static_configs: [{ targets: targets[job] ?? [] }] })),
      }),
    );
    const port = await freePort();
    const child = new Child({
      name: 'prometheus',
      command: 'prometheus',
      args: [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      cwd: folder,
      environment: { PATH: process.env['PATH'] },
      logFile: join(folder, 'prometheus.log'),
    });
    atEnd(() => child.killNow());
    const prometheus = new Prometheus(child, port);
    await waitFor('Prometheus is ready', async () => (await prometheus.#http.get('/-/ready')).status === 200, {
      context: () => readFileSync(child.logFile, 'utf8'),
    });
    return prometheus;
  }

  /** The labels of each present series of a query. @throws Error if Prometheus refuses the query. */
  async query(expression: string): Promise<Readonly<Record<string, string>>[]> {
    const { status, text } = await this.#http.get(
      `/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`,
    );
    if (status !== 200) throw new Error(`Prometheus answered ${status}: ${text}`);
    return answer.parse(JSON.parse(text)).data.result.map(({ metric }) => metric);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stop(5_000);
  }
}
