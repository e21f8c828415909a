import { createServer } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { startSettings } from '#cli/start/settings.ts';
import { waitingLines } from '#cli/start/summary.ts';
import { close, listen } from '#telemetry/http-server.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of closers.splice(0)) await end();
});

/** A worker that answers `/readyz` with these degradations. @returns its port. */
async function worker(...details: string[]): Promise<number> {
  const degraded = details.map((detail) => ({ condition: 'no_work_for_workers', detail }));
  const server = createServer((_, response) => response.end(JSON.stringify({ ready: true, checks: {}, degraded })));
  closers.push(() => close(server, 'all'));
  return listen(server, { host: '127.0.0.1', port: 0 });
}

function lines(workerPorts: number[], { data = '.data', environment = {} } = {}) {
  const settings = startSettings({ data, demo: true, apiPort: 3100, temporalUiPort: 8333 }, environment);
  return waitingLines({ ports: settings.ports, workerPorts, settings });
}

const ADDRESSES = ['  API          http://127.0.0.1:3100', '  Temporal UI  http://127.0.0.1:8333'];

it('the wait is explained by the workers, each reason once, with the addresses to look at', async () => {
  const reason = 'no version of shop is current. Make a version current: npx reseller deployment set-current 1';
  expect(await lines([await worker(reason), await worker(reason), await freePort()])).toEqual([
    `  Workers report: ${reason}`,
    ...ADDRESSES,
  ]);
});
