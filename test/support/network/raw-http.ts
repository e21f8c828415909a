import { connect } from 'node:net';

/** A request as text. @param start such as `GET /v1/orders`. */
export const rawRequest = (start: string, headers: readonly string[], body = ''): string =>
  `${[`${start} HTTP/1.1`, 'Host: api', ...headers].join('\r\n')}\r\n\r\n${body}`;

/** Longer than the answer of a busy machine takes, in milliseconds. */
const SILENCE_MS = 10_000;

/**
 * Sends bytes unchanged, then waits until the other side closes the connection or is silent for a while.
 *
 * @param parts sent in order. A number is a pause in milliseconds.
 * @param isEnough gets all received text. True ends the wait, if the other side does not close the connection.
 * @returns all received bytes as latin1, the status of each answer, and whether the other side closed the connection.
 */
export async function sendRaw(
  baseUrl: string,
  parts: readonly (string | Buffer | number)[],
  isEnough: (text: string) => boolean = () => false,
) {
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
  // A reset counts as closing.
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
