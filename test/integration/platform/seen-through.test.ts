import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { postOnce } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { hasPrometheus } from '#test/support/servers/prometheus.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

const stack = disposedAtEnd(await startStack());

const line = z.looseObject({ msg: z.string(), workId: z.string().optional() });

function linesAbout(process: 'api' | 'worker', id: string) {
  const lines = stack.process(process).output().trim().split('\n');
  return lines
    .filter((text) => text.startsWith('{') && text.endsWith('}'))
    .map((text) => line.parse(JSON.parse(text)))
    .filter(({ workId }) => workId === id);
}

describe('the log lines of work', () => {
  it('tell of an order from its acceptance to its end, with its id and request id', async () => {
    const order = { package_id: 9001, external_order_id: 'logged', customer_reference: 'jane@example.test' };
    const headers = { 'x-request-id': 'request-logged' };
    const answer = await postOnce(stack.api, '/v1/orders', order, 'logged', headers);
    expect(answer.status, answer.text).toBe(202);
    const id = answer.textAt('id');
    await stack.orderReaches(id, ['completed']);
    const completed = { msg: 'the status of work changed', status: 'completed', kind: 'order' };
    const found = await waitFor('the line of the end', async () => {
      const lines = linesAbout('worker', id);
      return lines.some(({ status }) => status === 'completed') ? lines : undefined;
    });

    expect(linesAbout('api', id)).toEqual([expect.objectContaining({ msg: 'work was accepted', status: 'accepted' })]);
    const sent = { msg: 'a send ended', attempt: 1, send: 1, state: 'processing' };
    for (const each of [sent, { msg: 'a report of the service was judged', attempt: 1 }])
      expect(found).toContainEqual(expect.objectContaining(each));
    expect(found.filter(({ status }) => status === 'completed')).toEqual([expect.objectContaining(completed)]);
    for (const each of [...linesAbout('api', id), ...found])
      expect(each).toMatchObject({ requestId: 'request-logged' });
    for (const process of ['api', 'worker'] as const)
      expect(stack.process(process).output()).not.toContain('jane@example.test');
  });
});

describe('the metrics of a running API and worker', () => {
  it.skipIf(!hasPrometheus).each([
    ['api', stack.api.baseUrl],
    ['worker', `http://127.0.0.1:${stack.environments.worker['WORKER_PROBE_PORT']}`],
  ])('of the %s pass promtool check metrics', async (_process, base) => {
    const { status: answered, text: input } = await new HttpClient(base).get('/metrics');
    expect(answered).toBe(200);
    // It exits with 3 for names and help texts that its linter does not like.
    const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
  });
});
