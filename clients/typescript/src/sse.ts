/** Up to a blank line. */
export interface StreamBlock {
  /** For continuing after this block; empty when the connection has sent no id. */
  readonly lastEventId: string;
  /** Undefined for a block without data, which is not an event. */
  readonly data: string | undefined;
}

/**
 * https://html.spec.whatwg.org/multipage/server-sent-events.html. Bytes may be split at any place. An incomplete block
 * at the end is ignored, its id included. Written here because this package has no dependencies.
 */
export class StreamParser {
  /** If the stream sets it with `retry`. */
  retryMs: number | undefined;
  // The byte order mark is removed below: Node.js would also remove a second one when the first arrives alone.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #hasBegun = false;
  /** The part of a line received so far. */
  #line = '';
  /** A line feed after a carriage return belongs to it. */
  #afterReturn = false;
  #id = '';
  #data: string[] = [];

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
    // `event` is ignored, because our events contain their type. A comment has an empty name.
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
