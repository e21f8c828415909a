import { connect } from 'node:net';

/** What came back for bytes that no HTTP client would send, until the other side closed or was silent. */
export interface RawAnswer {
  /** All that came back, decoded as latin1. */
  readonly text: string;
  /** Status of each answer in it, in order. */
  readonly statuses: readonly number[];
  /** True when the other side closed the connection. */
  readonly closed: boolean;
}

/** Milliseconds: longer than a busy machine takes to answer. */
const SILENCE_MS = 10_000;

/**
 * Sends bytes as they are, then waits until the other side closes, or is silent for a while.
 *
 * @param parts sent one after the other; a number is a pause in milliseconds.
 * @param isEnough of all that came so far: true ends the wait, where nobody would close.
 */
export async function sendRaw(
  baseUrl: string,
  parts: readonly (string | Buffer | number)[],
  isEnough: (text: string) => boolean = () => false,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  socket.setTimeout(SILENCE_MS, () => end(false));
  const came = () => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (isEnough(came())) end(false);
  });
  socket.on('end', () => end(true));
  socket.on('close', () => end(true));
  // A reset is a way of closing.
  socket.on('error', () => end(true));
  for (const part of parts) {
    if (typeof part === 'number') await new Promise((resolve) => setTimeout(resolve, part));
    else if (socket.writable) socket.write(part);
  }
  const closed = await ended;
  socket.destroy();
  const text = came();
  return { text, closed, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)) };
}
