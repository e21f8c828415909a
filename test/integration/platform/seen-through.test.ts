import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { hasPrometheus } from '#test/support/servers/prometheus.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

const stack = disposedAtEnd(await startStack());

const line = z.looseObject({ msg: z.string(), workId: z.string().optional(), batchId: z.string().optional() });

function linesAbout(process: 'api' | 'worker', id: string) {
  const lines = stack.process(process).output().trim().split('\n');
  return lines
    .filter((text) => text.startsWith('{') && text.endsWith('}'))
    .map((text) => line.parse(JSON.parse(text)))
    .filter(({ workId, batchId }) => workId === id || batchId === id);
}

async function create(path: string, key: string, body: object): Promise<string> {
  const headers = { 'idempotency-key': key, 'x-request-id': `request-${key}` };
  const answer = await stack.api.post(path, body, { headers });
  expect(answer.status, answer.text).toBe(202);
  return answer.textAt('id');
}

describe('the log lines of work', () => {
  it('tell of an order from its acceptance to its end, with its id and request id', async () => {
    const id = await create('/v1/orders', 'logged', {
      package_id: 9001,
      external_order_id: 'logged',
      customer_reference: 'jane@example.test',
    });
    await stack.orderReaches(id, ['completed']);
    const completed = { msg: 'the status of work changed', status: 'completed', kind: 'order' };
    const found = await waitFor('the line of the end', async () => {
      const lines = linesAbout('worker', id);
      return lines.some(({ status }) => status === 'completed') ? lines : undefined;
    });

    expect(linesAbout('api', id)).toEqual([expect.objectContaining({ msg: 'work was accepted', status: 'accepted' })]);
    expect(found).toContainEqual(
      expect.objectContaining({ msg: 'a send ended', attempt: 1, send: 1, state: 'processing' }),
    );
    expect(found).toContainEqual(expect.objectContaining({ msg: 'a report of the service was judged', attempt: 1 }));
    expect(found.filter(({ status }) => status === 'completed')).toEqual([expect.objectContaining(completed)]);
    for (const each of [...linesAbout('api', id), ...found])
      expect(each).toMatchObject({ requestId: 'request-logged' });
    for (const process of ['api', 'worker'] as const)
      expect(stack.process(process).output()).not.toContain('jane@example.test');
  });
});

async function scrape(process: 'api' | 'worker'): Promise<string> {
  const base =
    process === 'api' ? stack.api.baseUrl : `http://127.0.0.1:${stack.environments.worker['WORKER_PROBE_PORT']}`;
  const answer = await new HttpClient(base).get('/metrics');
  expect(answer.status).toBe(200);
  return answer.text;
}

describe('the metrics of a running API and worker', () => {
  it.skipIf(!hasPrometheus).each(['api', 'worker'] as const)(
    'of the %s pass promtool check metrics',
    async (process) => {
      const input = await scrape(process);
      // It exits with 3 for names and help texts that its linter does not like.
      const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
      expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
    },
  );
});
