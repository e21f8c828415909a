import { freePort } from '#cli/embedded/ports.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { definedOf, type Stack } from '#test/support/servers/stack.ts';

/**
 * Starts a further worker of a stack, with a probe port of its own, and waits until it is ready.
 * @param name in failure messages.
 * @param environment additions to that of the stack's worker.
 */
export async function startWorker(
  { environments }: Stack,
  name = 'worker',
  environment: Readonly<Record<string, string>> = {},
): Promise<TestProcess> {
  const port = await freePort();
  return startProcess({
    name,
    script: 'worker/main.ts',
    environment: { ...definedOf(environments.worker), WORKER_PROBE_PORT: String(port), ...environment },
    readyUrl: `http://127.0.0.1:${port}/readyz`,
  });
}
