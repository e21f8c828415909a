/** The inspector tells what a Node process really keeps after a full collection. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { answersOk, Child, type ChildOptions, untilReady } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { NODE_ARGUMENTS, QUICK_START } from '#cli/start/supervisor.ts';

interface ChildProcessOptions {
  readonly name: string;
  readonly script: string;
  /** Another checkout; ours when absent. */
  readonly project?: string;
  /** Only PATH, HOME and the cache folder are added: no other setting of this machine leaks in. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** An address that then answers 200, or whether it is ready now. */
  readonly ready: string | ((child: Child) => boolean);
}

export const PROJECT = join(import.meta.dirname, '../..');
const READY_TIMEOUT_MS = 90_000;
const READY_POLL_MS = 50;
const STOP_GRACE_MS = 30_000;

/** All have the arguments that the product gives Node. The end of the benchmark ends them. */
export class Children {
  readonly #logs: string;
  /** The value is the port of the inspector, which sleeps. */
  readonly #running = new Map<Child, number>();
  #started = 0;

  constructor(logs: string) {
    this.#logs = logs;
    mkdirSync(logs, { recursive: true });
  }

  /** @throws UserError with the end of its log when it is not ready. */
  async start({ name, script, project = PROJECT, environment, ready }: ChildProcessOptions): Promise<Child> {
    const { XDG_CACHE_HOME } = process.env;
    const inspectPort = await freePort();
    const program = {
      name,
      command: process.execPath,
      args: [...NODE_ARGUMENTS, QUICK_START, `--inspect-port=${inspectPort}`, join(project, script)],
      cwd: project,
      environment: { XDG_CACHE_HOME, ...environment },
    };
    return this.startProgram(program, ready, inspectPort);
  }

  /** @throws UserError with the end of its log when it is not ready. */
  async startProgram(
    program: Omit<ChildOptions, 'logFile'>,
    ready: ChildProcessOptions['ready'],
    inspectPort = 0,
  ): Promise<Child> {
    const { PATH, HOME } = process.env;
    this.#started += 1;
    const logFile = join(this.#logs, `${this.#started}-${program.name}.log`);
    const child = new Child({ ...program, environment: { PATH, HOME, ...program.environment }, logFile });
    this.#running.set(child, inspectPort);
    void child.exited.then(() => this.#running.delete(child));
    const answers = async () => {
      if (typeof ready === 'string') await answersOk(ready);
      else if (!ready(child)) throw new Error('it is not ready');
    };
    await untilReady(child, { timeoutMs: READY_TIMEOUT_MS, pollMs: READY_POLL_MS, answers });
    return child;
  }

  /** @throws Error when it has to be killed. */
  async stop(child: Child): Promise<void> {
    if (!child.running) throw new Error(`${child.name} ended before it was stopped\n${child.tail()}`);
    const { signal } = await child.stop(STOP_GRACE_MS);
    if (signal === 'SIGKILL') throw new Error(`${child.name} did not stop when asked\n${child.tail()}`);
  }

  /** MB after all garbage was collected. */
  async liveHeapMb(child: Child): Promise<number> {
    const inspectPort = this.#running.get(child);
    if (inspectPort === undefined || child.identity === undefined) throw new Error(`${child.name} does not run`);
    return liveHeapMb(child.identity.pid, inspectPort);
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((child) => child.kill()));
  }

  /** For the `exit` event, which cannot await. */
  killNow(): void {
    for (const child of this.#running.keys()) child.killNow();
  }

  tails(): string {
    return [...this.#running.keys()].map((child) => `--- ${child.name}\n${child.tail(10)}`).join('\n');
  }
}

const OPEN_WITHIN_MS = 10_000;
const POLL_MS = 100;
// The first runs finalisers; the next collects what they release.
const COLLECTIONS = 2;

const targets = z.array(z.object({ webSocketDebuggerUrl: z.url() })).min(1);
const heapUsage = z.object({ usedSize: z.number().positive() });
const message = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
});
const attached = z.object({ sessionId: z.string() });
const received = z.object({ sessionId: z.string(), message: z.string() });

/** Includes worker threads (one runs the workflows); MB are 10^6 bytes. The port listens after the first SIGUSR1. */
async function liveHeapMb(pid: number, inspectPort: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await Inspector.open(await debuggerUrl(inspectPort));
  try {
    // Existing workers are reported before the answer.
    await inspector.call('NodeWorker.enable', { waitForDebuggerOnStart: false });
    let bytes = 0;
    for (const session of [undefined, ...inspector.workers]) {
      for (let n = 0; n < COLLECTIONS; n += 1) await inspector.call('HeapProfiler.collectGarbage', {}, session);
      bytes += heapUsage.parse(await inspector.call('Runtime.getHeapUsage', {}, session)).usedSize;
    }
    return bytes / 1e6;
  } finally {
    inspector.close();
  }
}

async function debuggerUrl(port: number): Promise<string> {
  const deadline = Date.now() + OPEN_WITHIN_MS;
  for (;;) {
    try {
      const [target] = targets.parse(await (await fetch(`http://127.0.0.1:${port}/json/list`)).json());
      if (target !== undefined) return target.webSocketDebuggerUrl;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}

class Inspector {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  /** Sessions of the worker threads. */
  readonly workers: string[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => {
      for (const { reject } of this.#pending.values()) reject(new Error('the inspector closed the connection'));
    });
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('error', () => reject(new Error('the inspector takes no connection')), { once: true });
    });
    return new Inspector(socket);
  }

  /** @param worker one of {@link workers}; absent: the main thread. */
  async call(method: string, params: object, worker?: string): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = Promise.withResolvers<unknown>();
    this.#pending.set(id, answered);
    const request = JSON.stringify({ id, method, params });
    if (worker === undefined) this.#socket.send(request);
    else void this.call('NodeWorker.sendMessageToWorker', { sessionId: worker, message: request });
    return answered.promise;
  }

  close(): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    const { id, result, error, method, params } = message.parse(JSON.parse(text));
    if (method === 'NodeWorker.attachedToWorker') this.workers.push(attached.parse(params).sessionId);
    if (method === 'NodeWorker.receivedMessageFromWorker') this.#receive(received.parse(params).message);
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || pending === undefined) return;
    this.#pending.delete(id);
    if (error === undefined) pending.resolve(result);
    else pending.reject(new Error(`the inspector refused: ${error.message}`));
  }
}
