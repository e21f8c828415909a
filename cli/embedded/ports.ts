import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { codeOf } from '#cli/terminal/user-error.ts';

// Below outgoing connections (Linux from 32768): none takes a server's port while it restarts.
const LOWEST = 15_000;
const HIGHEST = 32_000;
const TRIES = 200;

const chosen = new Set<number>();
let lane = { number: 0, of: 1 };

/** No two processes then choose the same port. */
export function choosePortsInLane(number: number, of: number): void {
  lane = { number, of };
}

/** Something else will listen on these ports later. */
export function reservePorts(ports: readonly number[]): void {
  for (const port of ports) chosen.add(port);
}

/** Never returns a port twice, nor a reserved one. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = LOWEST + lane.of * randomInt(Math.floor((HIGHEST - LOWEST) / lane.of)) + lane.number;
    if (chosen.has(port) || !(await isPortFree(port))) continue;
    chosen.add(port);
    return port;
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST}`);
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
