import { Child, type ChildOptions } from '#cli/embedded/child.ts';

/** A server in a process of its own, which can be started again after its end. */
export abstract class ServerProcess {
  readonly name: string;
  readonly #stopGraceMs: number;
  readonly #stopSignal: NodeJS.Signals;
  #child: Child | undefined;

  protected constructor(name: string, stopGraceMs: number, stopSignal: NodeJS.Signals = 'SIGTERM') {
    this.name = name;
    this.#stopGraceMs = stopGraceMs;
    this.#stopSignal = stopSignal;
  }

  /** Resolves when ready. @throws UserError when it ends or is not ready in time. */
  abstract start(): Promise<void>;

  get child(): Child | undefined {
    return this.#child;
  }

  protected launch(options: Omit<ChildOptions, 'name'>): Child {
    this.#child = new Child({ name: this.name, ...options });
    return this.#child;
  }

  async stop(): Promise<void> {
    await this.#child?.stop(this.#stopGraceMs, this.#stopSignal);
    await this.afterEnd();
    this.#child = undefined;
  }

  async kill(): Promise<void> {
    await this.#child?.kill();
    await this.afterEnd();
    this.#child = undefined;
  }

  /** Ends what belongs to the process, such as a proxy in front of it. */
  protected async afterEnd(): Promise<void> {
    // Most have nothing.
  }
}
