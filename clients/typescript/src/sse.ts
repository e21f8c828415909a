/** A block of a stream of server-sent events, up to its blank line. */
export interface StreamBlock {
  /** What goes into `Last-Event-ID` to go on after this block; empty when the connection has brought no id. */
  readonly lastEventId: string;
  /** Its `data` lines, joined; undefined of a block that brings none, which is no event. */
  readonly data: string | undefined;
}

/**
 * Reads a stream of server-sent events as the HTML standard has it (https://html.spec.whatwg.org/multipage/server-sent-events.html), from
 * bytes that may be split anywhere. What has not come to its blank line when the stream ends counts for nothing, its id included.
 * Of our own, since this package has no dependencies.
 */
export class StreamParser {
  /** What the stream says with `retry` about the wait before the next connection. */
  retryMs: number | undefined;
  // Node.js takes away a second byte order mark too, where the first comes alone; so we do it.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #hasBegun = false;
  /** The beginning of a line whose end has not come. */
  #line = '';
  /** A line feed that comes next belongs to the carriage return before it. */
  #afterReturn = false;
  #id = '';
  #data: string[] = [];

  /** @returns the blocks that these bytes complete. */
  push(bytes: Uint8Array): StreamBlock[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return [];
    if (!this.#hasBegun && text.startsWith('\uFEFF')) text = text.slice(1);
    this.#hasBegun = true;
    if (this.#afterReturn && text.startsWith('\n')) text = text.slice(1);
    this.#afterReturn = text.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\r|\n/);
    const lines = [this.#line + first, ...others];
    this.#line = lines.pop() ?? '';
    return lines.flatMap((line) => (line === '' ? [this.#end()] : this.#take(line)));
  }

  #take(line: string): [] {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    // `event` is not kept, since our events name their type themselves. A comment has no name.
    if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #end(): StreamBlock {
    const data = this.#data.length === 0 ? undefined : this.#data.join('\n');
    this.#data = [];
    return { lastEventId: this.#id, data };
  }
}
