import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runDemo, type DemoOptions } from '#cli/set-up/demo.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { captured } from '#test/support/cli-output.ts';
import { problem, WorkApi } from '#test/support/work/work-commands.ts';

let api: WorkApi;
/** The test decides when orders end. */
let status: string;
let output: ReturnType<typeof captured>;
beforeEach(async () => {
  status = 'processing';
  output = captured();
  api = await WorkApi.start();
  api.answer = (method, path) => {
    if (api.calls.at(-1)?.authorization !== 'Bearer key') return problem(401, 'unauthenticated');
    const body = bodyOf(path.split('?', 1)[0] ?? '');
    return { status: method === 'POST' ? 202 : 200, body };
  };
});
afterEach(() => api.stop());

function bodyOf(path: string): unknown {
  switch (path) {
    case '/v1/packages':
      return { data: [1, 9001].map((id) => ({ id, name: `Package ${id}` })) };
    case '/v1/orders/ord_1/timeline':
      return { data: [{ at: '2026-01-01T00:00:00Z', event: 'order.accepted', message: 'Accepted.' }] };
    case '/v1/esims/esim_1/activation':
      return { activation_code: 'LPA:1$smdp.example$ABC' };
    default:
      return { id: 'ord_1', status, esim_id: status === 'completed' ? 'esim_1' : null };
  }
}

const placed = () => api.calls.filter(({ call }) => call.startsWith('POST'));
const demo = ({ key = 'key', ...more }: { key?: string } & Partial<DemoOptions> = {}) =>
  runDemo({
    api: { url: api.url, key, keyFrom: 'a test' },
    stateFile: join(api.data, 'demo.json'),
    terminal: new Terminal(output),
    ...more,
  });

describe('the demonstration', () => {
  it('shows each entry of the timeline once and ends with the activation code', async () => {
    status = 'completed';
    expect(await demo()).toBe(true);
    expect(output.text().match(/order\.accepted/g)).toHaveLength(1);
    expect(output.text()).toContain('LPA:1$smdp.example$ABC');
    expect(placed()).toHaveLength(1);
    expect(placed()[0]?.body).toMatchObject({ package_id: 9001 });
    expect(existsSync(join(api.data, 'demo.json'))).toBe(false);
  });

  it('follows the unfinished order of an interrupted run with the same request, and buys no other one', async () => {
    expect(await demo({ timeoutMs: 0 })).toBe(false);
    expect(output.text()).toContain('and continues');
    status = 'completed';
    expect(await demo()).toBe(true);
    expect(placed()).toHaveLength(2);
    expect(placed()[1]).toEqual(placed()[0]);
    await demo();
    expect(placed()[2]).not.toEqual(placed()[0]);
  });

  it('explains once why the order waits', async () => {
    let explained = 0;
    const explainWait = async () => {
      if ((explained += 1) === 1) void setImmediate(() => (status = 'completed'));
      return ['  Nothing is current.'];
    };
    expect(await demo({ explainWait, quietMs: 0 })).toBe(true);
    expect(explained).toBe(1);
    expect(output.text()).toContain('The order is processing and has not changed for 0 s.\n  Nothing is current.\n');
  });
});
