import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

export interface DriverProtocol<Task extends z.ZodType, Result extends z.ZodType> {
  readonly name: string;
  readonly task: Task;
  readonly result: Result;
}

const driverReply = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);

const load = {
  count: z.int().positive(),
  atOnce: z.int().positive(),
};

const loadResult = z.object({ elapsedMs: z.number().positive(), latenciesMs: z.array(z.number().nonnegative()) });
export type LoadResult = z.output<typeof loadResult>;

/** Each must be answered with 200 and `accepted`. */
export const webhookDriver = {
  name: 'webhooks',
  task: z.object({ ...load, url: z.url(), secret: z.string().min(1), deliveryPrefix: z.string().min(1) }),
  result: loadResult,
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;

/** Each must be completed. */
export const orderDriver = {
  name: 'orders',
  task: z.object({
    ...load,
    apiUrl: z.url(),
    apiKey: z.string().min(1),
    databaseUrl: z.url(),
    packageId: z.int().positive(),
    pollMs: z.int().positive(),
  }),
  result: loadResult,
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;

/** Orders arrive at random times; each must be completed in the end. */
export const openOrderDriver = {
  name: 'open-orders',
  task: z.object({
    apiUrl: z.url(),
    apiKey: z.string().min(1),
    databaseUrl: z.url(),
    packageId: z.int().positive(),
    seed: z.int(),
    phases: z.array(z.object({ perSecond: z.number().positive(), seconds: z.number().positive() })).readonly(),
    /** Counts from the last arrival. */
    drainWithinMs: z.int().positive(),
  }),
  /** Per order: planned arrival from the beginning, then the time to its 202 and to its delivery. */
  result: z.object({
    orders: z.array(
      z.object({
        arrivedMs: z.number().nonnegative(),
        acceptedMs: z.number().nonnegative(),
        tookMs: z.number().nonnegative(),
      }),
    ),
    drainedMs: z.number().nonnegative(),
  }),
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;
export type OpenLoadResult = z.output<typeof openOrderDriver.result>;

/** Each must end well. */
export const workflowDriver = {
  name: 'workflows',
  task: z.object({
    ...load,
    address: z.string().min(1),
    namespace: z.string().min(1),
    taskQueue: z.string().min(1),
    workflowType: z.string().min(1),
    args: z.array(z.unknown()).readonly().default([]),
  }),
  result: loadResult,
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;

/** The calls go to our API, or to one that does the same. */
export const apiCallDriver = {
  name: 'api-calls',
  task: z.object({
    ...load,
    origin: z.url(),
    apiKey: z.string().min(1),
    call: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('get'), paths: z.array(z.string()).min(1).readonly() }),
      z.object({ kind: z.literal('order'), packageId: z.int().positive() }),
      /** Each call adds an id that comes once. */
      z.object({ kind: z.literal('post'), pathPrefix: z.string() }),
    ]),
  }),
  result: loadResult,
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;

/** Load and measurement share no event loop with what is measured. One driver serves all contestants. */
export class Driver<Task extends z.ZodType, Result extends z.ZodType> implements AsyncDisposable {
  readonly #protocol: DriverProtocol<Task, Result>;
  readonly #child: ChildProcess;
  readonly #exited: Promise<never>;

  constructor(protocol: DriverProtocol<Task, Result>) {
    this.#protocol = protocol;
    this.#child = fork(fileURLToPath(new URL(`${protocol.name}.ts`, import.meta.url)), {
      // Secrets come in messages; this machine's settings do not matter.
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#exited = new Promise((_resolve, reject) => {
      this.#child.once('exit', (code, signal) =>
        reject(new Error(`the driver ${protocol.name} ended (${signal ?? code})`)),
      );
      this.#child.once('error', reject);
    });
    // Only of interest while a task is under way.
    this.#exited.catch(() => undefined);
  }

  /** @throws Error when any part fails: that must not count as work. */
  async run(task: z.input<Task>): Promise<z.output<Result>> {
    const answered = new Promise<unknown>((resolve) => this.#child.once('message', resolve));
    this.#child.send(this.#protocol.task.parse(task) as object);
    const reply = driverReply.parse(await Promise.race([answered, this.#exited]));
    if (!reply.ok) throw new Error(`the driver ${this.#protocol.name} failed: ${reply.error}`);
    return this.#protocol.result.parse(reply.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect();
    await this.#exited.catch(() => undefined);
  }
}
