import { afterEach, expect, it, vi } from 'vitest';
import { DRAIN_MS } from '#api/http/server.ts';
import { Child } from '#cli/embedded/child.ts';
import { makePlan, productProcesses } from '#cli/start/plan.ts';
import { startSettings } from '#cli/start/settings.ts';
import type { NodeProcess } from '#cli/start/supervisor.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const SECRETS = {
  encryption_keys: `dev-1:${Buffer.alloc(32, 7).toString('base64')}`,
  webhook_secret: 'whsec_generated',
  postgres_password: 'postgres-password',
  simulator_password: 'simulator-password',
};

const folder = temporaryFolder('plan');
afterEach(() => {
  vi.restoreAllMocks();
  removeFolder(folder);
});

/** How long the process may take to end after the signal, before it is killed. It is stopped as soon as it runs. */
async function graceOf(process: NodeProcess | undefined): Promise<number> {
  const stop = vi.spyOn(Child.prototype, 'stop');
  const started = process?.start().catch(() => undefined);
  await process?.stop();
  await started;
  return stop.mock.calls.at(-1)?.[0] ?? NaN;
}

it.each([
  ['20 s unless it is set', {}, 20_000],
  ['a time of the caller', { WORKER_SHUTDOWN_GRACE: '90s' }, 90_000],
])(
  'a start kills a worker 15 s after WORKER_SHUTDOWN_GRACE (%s), and an API after its answers',
  async (_, set, grace) => {
    const plan = await makePlan(startSettings({ data: folder, demo: false }, {}), SECRETS, set);
    const { apis, workers } = productProcesses(plan);
    expect(await graceOf(workers[0])).toBe(grace + 15_000);
    expect(await graceOf(apis[0])).toBeGreaterThan(DRAIN_MS);
  },
);
