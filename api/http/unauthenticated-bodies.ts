import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { networkOf } from '#api/http/network-address.ts';
import { onceClosed } from '#api/http/stream-writer.ts';
import { Problem } from '#api/problems/problem.ts';
import type { UnauthenticatedBodyLimits } from '#domain/service/unauthenticated-bodies.ts';

/** Retry-After of a refusal. Bodies arrive within milliseconds, so there is room again soon. */
const RETRY_AFTER_S = '1';

/**
 * Limits the memory that senders without an API key can use: the number of their bodies that are being read, in total
 * and for each address.
 */
export class UnauthenticatedBodies {
  readonly #limits: UnauthenticatedBodyLimits;
  readonly #underWay = new Map<string, number>();
  #total = 0;

  constructor(limits: UnauthenticatedBodyLimits) {
    this.#limits = limits;
  }

  /** Wraps the body reader. @throws Problem rate_limited when too many bodies are being read. */
  guard(read: RequestHandler): RequestHandler {
    return (request, response, next) => {
      const leave = this.#enter(networkOf(request.ip ?? ''));
      const late = setTimeout(() => endConnection(request), this.#limits.deadlineMs);
      const done = once(() => {
        clearTimeout(late);
        leave();
      });
      onceClosed(response, done);
      return read(request, response, (error?: unknown) => {
        done();
        next(error);
      });
    };
  }

  #enter(network: string): () => void {
    const ofAddress = this.#underWay.get(network) ?? 0;
    if (this.#total >= this.#limits.total || ofAddress >= this.#limits.perAddress) {
      throw new Problem('rate_limited', {
        detail: 'Too many request bodies are being received.',
        headers: { 'Retry-After': RETRY_AFTER_S, Connection: 'close' },
      });
    }
    this.#total += 1;
    this.#underWay.set(network, ofAddress + 1);
    return () => this.#leave(network);
  }

  #leave(network: string): void {
    this.#total -= 1;
    const left = (this.#underWay.get(network) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(network);
    else this.#underWay.set(network, left);
  }
}

function endConnection(request: IncomingMessage): void {
  request.socket.destroy();
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
