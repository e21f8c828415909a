import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { networkOf } from '#api/http/network-address.ts';
import { Problem } from '#api/problems/problem.ts';
import type { AnonymousBodyLimits } from '#domain/service/anonymous-bodies.ts';

/** When to try again after a refusal: bodies arrive within milliseconds, so there is room again at once. */
const RETRY_AFTER_S = '1';

/**
 * Bounds the memory that senders without an API key can take: how many of their bodies are being read, in all and for
 * each address.
 */
export class AnonymousBodies {
  readonly #limits: AnonymousBodyLimits;
  readonly #underWay = new Map<string, number>();
  #total = 0;

  constructor(limits: AnonymousBodyLimits) {
    this.#limits = limits;
  }

  /** Put around what reads the body. @throws Problem rate_limited where too many are being read. */
  guard(read: RequestHandler): RequestHandler {
    return (request, response, next) => {
      const leave = this.#enter(networkOf(request.ip ?? ''));
      const late = setTimeout(() => endConnection(request), this.#limits.deadlineMs);
      const done = once(() => {
        clearTimeout(late);
        leave();
      });
      response.once('close', done);
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
        detail: 'Too many bodies are being received at this moment.',
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
