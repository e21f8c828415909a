import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { codeOf } from '#cli/terminal/user-error.ts';

// Below the ranges of outgoing connections (Linux from 32768, others from 49152): no connection takes the port of a
// server while it restarts.
const LOWEST = 15_000;
const HIGHEST = 32_000;
const TRIES = 200;

const chosen = new Set<number>();
let lane = { number: 0, of: 1 };

/** Gives each of several processes its own part of the port range, so that no two choose the same port. */
export function choosePortsInLane(number: number, of: number): void {
  lane = { number, of };
}

/** Keeps {@link freePort} from returning these ports, which something will listen on later. */
export function reservePorts(ports: readonly number[]): void {
  for (const port of ports) chosen.add(port);
}

/** A free port of 127.0.0.1 that this process has not returned before, and that is not reserved. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = LOWEST + lane.of * randomInt(Math.floor((HIGHEST - LOWEST) / lane.of)) + lane.number;
    if (chosen.has(port) || !(await isPortFree(port))) continue;
    chosen.add(port);
    return port;
  }
  throw new Error(`no free port found between ${LOWEST} and ${HIGHEST}`);
}

/** Whether a server can listen on this port. @param host defaults to loopback. */
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
