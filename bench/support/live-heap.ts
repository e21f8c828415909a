/** What a Node process really keeps: its JavaScript heaps after a full collection, asked for through the inspector. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';

const OPEN_WITHIN_MS = 10_000;
const POLL_MS = 100;
// One collection runs finalisers; what they let go of goes with the next.
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

/**
 * Collects all garbage of a process and of its worker threads (the workflows run in one).
 *
 * @param inspectPort what the process was given as `--inspect-port`; it listens there after its first SIGUSR1.
 * @returns what is left, in MB (10^6 bytes).
 */
export async function liveHeapMb(pid: number, inspectPort: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const inspector = await Inspector.open(await debuggerUrl(inspectPort));
  try {
    // Workers that exist are reported before the answer.
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

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** As much of the inspector's protocol as is needed here. */
class Inspector {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  /** Sessions of the process's worker threads. */
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

  /** @param worker one of {@link workers}; the main thread when left out. */
  async call(method: string, params: object, worker?: string): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    const request = JSON.stringify({ id, method, params });
    if (worker === undefined) this.#socket.send(request);
    else void this.call('NodeWorker.sendMessageToWorker', { sessionId: worker, message: request });
    return answered;
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
