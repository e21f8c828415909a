import { freePort } from '#cli/embedded/ports.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { definedOf, type Stack } from '#test/support/servers/stack.ts';
import { startWorker } from '#test/support/servers/worker-process.ts';

export interface Machine extends AsyncDisposable {
  readonly apiPort: number;
  readonly worker: TestProcess;
  /** Stops the API as a deployment does, and starts another one on its port. Waits until it is ready. */
  replaceApi(): Promise<void>;
  /** Kills both at once, as the loss of the machine does. */
  kill(): Promise<void>;
}

/** Starts both processes on ports of their own. @param startItsWorker by default starts one without a version. */
export async function startMachine(stack: Stack, startItsWorker = () => startWorker(stack)): Promise<Machine> {
  const apiPort = await freePort();
  const startApi = () =>
    startProcess({
      name: 'api',
      script: 'api/main.ts',
      environment: { ...definedOf(stack.environments.api), API_PORT: String(apiPort) },
      readyUrl: `http://127.0.0.1:${apiPort}/readyz`,
    });
  const [firstApi, worker] = await Promise.all([startApi(), startItsWorker()]);
  let api = firstApi;
  const kill = async () => {
    await Promise.all([api.kill(), worker.kill()]);
  };
  const replaceApi = async () => {
    await api.stop();
    api = await startApi();
  };
  return { apiPort, worker, replaceApi, kill, [Symbol.asyncDispose]: kill };
}
