import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type * as z from 'zod';
import { driverReply, type DriverProtocol } from '#bench/drivers/protocol.ts';

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
    this.#child = fork(fileURLToPath(new URL(`../drivers/${protocol.name}.ts`, import.meta.url)), {
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
