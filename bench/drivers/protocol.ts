import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

export interface Load {
  readonly count: number;
  readonly atOnce: number;
}

export interface LoadResult {
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
}

/** Each must be answered with 200 and `accepted`. */
export interface WebhookTask extends Load {
  readonly url: string;
  readonly secret: string;
  readonly deliveryPrefix: string;
}

/** Each must be completed. */
export interface OrderTask extends Load {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly packageId: number;
  readonly pollMs: number;
}

/** Each must end well. */
export interface WorkflowTask extends Load {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly workflowType: string;
  readonly args: readonly unknown[];
}

/** The calls go to our API, or to one that does the same. */
export interface ApiCallTask extends Load {
  readonly origin: string;
  readonly apiKey: string;
  readonly call:
    | { readonly kind: 'get'; readonly paths: readonly string[] }
    | { readonly kind: 'order'; readonly packageId: number }
    /** Each call adds an id that comes once. */
    | { readonly kind: 'post'; readonly pathPrefix: string };
}

interface Tasks {
  readonly webhooks: WebhookTask;
  readonly orders: OrderTask;
  readonly workflows: WorkflowTask;
  readonly 'api-calls': ApiCallTask;
}

export type Reply = { readonly result: LoadResult } | { readonly error: string };

/** Load and measurement share no event loop with what is measured. One driver serves all contestants. */
export class Driver<Name extends keyof Tasks> implements AsyncDisposable {
  readonly #name: Name;
  readonly #child: ChildProcess;
  readonly #exited: Promise<never>;

  constructor(name: Name) {
    this.#name = name;
    this.#child = fork(fileURLToPath(new URL(`${name}.ts`, import.meta.url)), {
      // Secrets come in messages; this machine's settings do not matter.
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#exited = new Promise((_resolve, reject) => {
      this.#child.once('exit', (code, signal) => reject(new Error(`the driver ${name} ended (${signal ?? code})`)));
      this.#child.once('error', reject);
    });
    // Only of interest while a task is under way.
    this.#exited.catch(() => undefined);
  }

  /** @throws Error when any part fails: that must not count as work. */
  async run(task: Tasks[Name]): Promise<LoadResult> {
    const answered = new Promise<Reply>((resolve) => this.#child.once('message', (reply) => resolve(reply as Reply)));
    this.#child.send(task);
    const reply = await Promise.race([answered, this.#exited]);
    if ('error' in reply) throw new Error(`the driver ${this.#name} failed: ${reply.error}`);
    return reply.result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect();
    await this.#exited.catch(() => undefined);
  }
}

/** Ends with the process that started this one. @param run gets what the scenario has sent. */
export function serve(run: (task: never) => Promise<LoadResult>): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (task) => void replyTo(run(task as never)));
}

async function replyTo(work: Promise<LoadResult>): Promise<void> {
  const reply: Reply = await work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
  process.send?.(reply);
}

/** A new order, under a key and a reference of its own. */
export function orderRequest(apiKey: string, packageId: number) {
  return {
    method: 'POST',
    path: '/v1/orders',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ package_id: packageId, external_order_id: `bench-${randomUUID()}` }),
  } as const;
}

/** The first failure ends all lanes. `piece` returns milliseconds where it knows better than a clock around it. */
export async function closedLoop(
  { count, atOnce }: Load,
  piece: (number: number, lane: number) => Promise<number | void>,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let left = count;
  const lane = async (_: unknown, number: number) => {
    while (left > 0) {
      left -= 1;
      const started = performance.now();
      const told = await piece(count - left, number).catch((error: unknown) => {
        // Nobody begins another piece.
        left = 0;
        throw error;
      });
      latenciesMs.push(told ?? performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
  return { elapsedMs: performance.now() - started, latenciesMs };
}
