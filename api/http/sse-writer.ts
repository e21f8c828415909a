import type { ServerResponse } from 'node:http';

/** What is sent to one reader, no faster than it reads: nothing piles up here. */
export class SseWriter {
  readonly #response: ServerResponse;
  readonly #stallMs: number;

  constructor(response: ServerResponse, stallMs: number) {
    this.#response = response;
    this.#stallMs = stallMs;
  }

  /** True once nobody reads any more. */
  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  /** Cuts a reader off. */
  cut(): void {
    this.#response.destroy();
  }

  /**
   * Sends a piece, and waits until there is room for more. A reader that takes nothing for too long is cut.
   *
   * @returns false when nobody reads any more.
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
