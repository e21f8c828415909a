/** What the benchmark and its drivers say to each other. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

export interface DriverProtocol<Task extends z.ZodType, Result extends z.ZodType> {
  /** Also the name of its file. */
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
  /** How many are under way at a time; the next begins when one has ended. */
  atOnce: z.int().positive(),
};

/** Figures of a closed loop. Milliseconds. */
const loadResult = z.object({ elapsedMs: z.number().positive(), latenciesMs: z.array(z.number().nonnegative()) });
export type LoadResult = z.output<typeof loadResult>;

/** Signed webhook deliveries, each of which must be answered with 200 and `accepted`. */
export const webhookDriver = {
  name: 'webhooks',
  task: z.object({ ...load, url: z.url(), secret: z.string().min(1), deliveryPrefix: z.string().min(1) }),
  result: loadResult,
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;

/** Orders over our REST API, each of which must be completed. */
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

/** Orders at random times of a stated rate, each of which must be completed in the end. */
export const openOrderDriver = {
  name: 'open-orders',
  task: z.object({
    apiUrl: z.url(),
    apiKey: z.string().min(1),
    databaseUrl: z.url(),
    packageId: z.int().positive(),
    /** The same seed draws the same arrivals. */
    seed: z.int(),
    /** One after the other. */
    phases: z.array(z.object({ perSecond: z.number().positive(), seconds: z.number().positive() })).readonly(),
    /** After the last was placed. */
    drainWithinMs: z.int().positive(),
  }),
  /** Milliseconds; of each order: its planned arrival from the beginning, and from there to its 202 and its delivery. */
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

/** Workflows of one type, each of which must end well. */
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

/**
 * Calls to our API, or to one that does the same: reads of these paths in turn, orders, or other calls, each of
 * which must be answered as it should.
 */
export const apiCallDriver = {
  name: 'api-calls',
  task: z.object({
    ...load,
    origin: z.url(),
    apiKey: z.string().min(1),
    call: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('get'), paths: z.array(z.string()).min(1).readonly() }),
      z.object({ kind: z.literal('order'), packageId: z.int().positive() }),
      /** To this path, followed by an id that comes once; answered with 200. */
      z.object({ kind: z.literal('post'), pathPrefix: z.string() }),
    ]),
  }),
  result: loadResult,
} as const satisfies DriverProtocol<z.ZodType, z.ZodType>;

/**
 * A process that makes the load, so that load and measurement do not share an event loop with what is measured or with
 * us. One driver serves all contestants of a scenario: what it costs, it costs all of them.
 */
export class Driver<Task extends z.ZodType, Result extends z.ZodType> implements AsyncDisposable {
  readonly #protocol: DriverProtocol<Task, Result>;
  readonly #child: ChildProcess;
  readonly #exited: Promise<never>;

  constructor(protocol: DriverProtocol<Task, Result>) {
    this.#protocol = protocol;
    this.#child = fork(fileURLToPath(new URL(`${protocol.name}.ts`, import.meta.url)), {
      // Secrets come in messages, and nothing of this machine's settings matters.
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

  /** Has one task done. @throws Error when it fails in any part: what failed must not count as work. */
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
