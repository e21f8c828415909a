import type { ServerResponse } from 'node:http';

/**
 * Calls a listener once when the connection of a reader has closed, also when that happened before this call: a
 * connection may break while its request waits for PostgreSQL, and `close` is emitted only once.
 */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed || response.destroyed) listener();
  else response.once('close', listener);
}

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
    onceClosed(this.#response, listener);
  }

  /** Closes the connection at once. */
  cut(): void {
    this.#response.destroy();
  }

  /**
   * Writes, and waits until the socket accepts more. Closes the connection of a reader that stalls too long.
   *
   * @returns false when the connection is closed.
   */
  async send(text: string | Uint8Array): Promise<boolean> {
    if (this.closed) return false;
    if (!this.#response.write(text) && !this.closed) await this.#room();
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
