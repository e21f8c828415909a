import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, describeExit } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { NODE_ARGUMENTS, QUICK_START } from '#cli/start/supervisor.ts';
import { atEnd } from '#test/support/at-end.ts';
import { PROJECT } from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

interface ProcessOptions {
  /** Name in failure messages. */
  readonly name: string;
  /** Path relative to the project, such as `api/main.ts`. */
  readonly script: string;
  readonly args?: readonly string[];
  /** The whole environment, except PATH and HOME. No other settings of the machine are passed on. */
  readonly environment: Readonly<Record<string, string>>;
  /** URL that answers 200 when the process is ready. Without it, a started process counts as ready. */
  readonly readyUrl?: string;
}

/**
 * The environment of an API or a worker on a database. Nothing listens at the addresses of Temporal and the service:
 * accepting orders needs neither.
 */
export async function environmentAlone(
  databaseUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    SERVICE_BASE_URL: 'http://127.0.0.1:1/api/reseller/v1',
    SERVICE_EMAIL: 'reseller@example.com',
    SERVICE_PASSWORD: 'the-password-of-the-test',
    SERVICE_WEBHOOK_SECRETS: 'whsec_process_test',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    API_PORT: String(await freePort()),
    WORKER_PROBE_PORT: String(await freePort()),
    ...more,
  };
}

const STOP_GRACE_MS = 30_000;

const running = new Set<Child>();
atEnd(() => running.forEach((child) => child.killNow()));

/** A child process of the product, with captured output. The test that started it stops or kills it. */
export class TestProcess implements AsyncDisposable {
  readonly name: string;
  readonly #child: Child;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#child = new Child({
      name: options.name,
      command: process.execPath,
      args: [...NODE_ARGUMENTS, QUICK_START, join(PROJECT, options.script), ...(options.args ?? [])],
      cwd: PROJECT,
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...options.environment },
      logFile: join(temporaryFolder('log'), `${options.name}.log`),
    });
    running.add(this.#child);
    void this.#child.exited.then(() => running.delete(this.#child));
  }

  get pid(): number {
    const pid = this.#child.identity?.pid;
    if (pid === undefined) throw new Error(`${this.name} was not started`);
    return pid;
  }

  get running(): boolean {
    return this.#child.running;
  }

  /** The output of both streams so far. */
  output(): string {
    return readFileSync(this.#child.logFile, 'utf8');
  }

  async exit(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const { code, signal } = await this.#child.exited;
    return { code, signal };
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.signal(signal);
  }

  /** Stops the process as a deployment does. @throws Error if it must be killed. */
  async stop(): Promise<void> {
    if (!this.#child.running) return;
    const exit = await this.#child.stop(STOP_GRACE_MS);
    if (exit.signal === 'SIGKILL')
      throw new Error(`${this.name} did not stop within ${STOP_GRACE_MS} ms\n${this.tail()}`);
  }

  async kill(): Promise<void> {
    await this.#child.kill();
  }

  /** The last lines of its output, for failure messages. */
  tail(lines = 40): string {
    const end = this.#child.exit === undefined ? '' : ` (${describeExit(this.#child.exit)})`;
    return `--- ${this.name}${end}\n${this.#child.tail(lines)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** Starts a process and waits until it is ready. @throws Error with the end of its output if it does not get ready. */
export async function startProcess(options: ProcessOptions): Promise<TestProcess> {
  const started = new TestProcess(options);
  const { readyUrl } = options;
  if (readyUrl === undefined) return started;
  try {
    await waitFor(`${options.name} is ready`, async () => !started.running || (await fetch(readyUrl)).status === 200, {
      context: () => started.tail(),
    });
    if (!started.running) throw new Error(`${options.name} ended before it was ready\n${started.tail()}`);
    return started;
  } catch (error) {
    await started.kill();
    throw error;
  }
}
