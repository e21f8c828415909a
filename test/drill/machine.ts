import { freePort } from '#cli/embedded/ports.ts';
import { startProcess } from '#test/support/servers/processes.ts';
import { definedOf, type Stack } from '#test/support/servers/stack.ts';

/** A machine of a cluster: one API and one worker. */
export interface Machine extends AsyncDisposable {
  readonly apiPort: number;
  /** Kills both at once, as the loss of the machine does. */
  kill(): Promise<void>;
}

/** Starts both processes, with ports of their own, and waits until they are ready. */
export async function startMachine({ environments }: Stack): Promise<Machine> {
  const [apiPort, probePort] = [await freePort(), await freePort()];
  const started = await Promise.all([
    startProcess({
      name: 'api',
      script: 'api/main.ts',
      environment: { ...definedOf(environments.api), API_PORT: String(apiPort) },
      readyUrl: `http://127.0.0.1:${apiPort}/readyz`,
    }),
    startProcess({
      name: 'worker',
      script: 'worker/main.ts',
      environment: { ...definedOf(environments.worker), WORKER_PROBE_PORT: String(probePort) },
      readyUrl: `http://127.0.0.1:${probePort}/readyz`,
    }),
  ]);
  const kill = async () => {
    await Promise.all(started.map((each) => each.kill()));
  };
  return { apiPort, kill, [Symbol.asyncDispose]: kill };
}
