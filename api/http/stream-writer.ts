import type { ServerResponse } from 'node:http';

/** Writes a streamed answer to one reader, no faster than it reads, so that nothing accumulates in memory. */
export class StreamWriter {
  readonly #response: ServerResponse;
  readonly #stallMs: number;

  constructor(response: ServerResponse, stallMs: number) {
    this.#response = response;
    this.#stallMs = stallMs;
  }

  /** True once the connection of the reader is closed. */
  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  /** Closes the connection at once. */
  cut(): void {
    this.#response.destroy();
  }

  /**
   * Writes text, and waits until the socket accepts more. Closes the connection of a reader that stalls too long.
   *
   * @returns false when the connection is closed.
   */
  async send(text: string): Promise<boolean> {
    if (this.closed) return false;
    if (!this.#response.write(text)) await this.#room();
    return !this.closed;
  }

  async #room(): Promise<void> {
    const response = this.#response;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.cut(), this.#stallMs);
      const done = () => {
        clearTimeout(timer);
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.once('drain', done);
      response.once('close', done);
    });
  }
}
