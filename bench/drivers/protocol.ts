import { type ChildProcess, fork } from 'node:child_process';
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
