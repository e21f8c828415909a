import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { onceClosed } from '#api/http/stream-writer.ts';
import { Problem } from '#api/problems/problem.ts';
import type { BodyLimits } from '#domain/policy/api-policy.ts';

/** Retry-After of a refusal. Bodies arrive within milliseconds, so there is room again soon. */
const RETRY_AFTER_S = '1';

interface Body {
  readonly sender: string;
  /** In the unit of the limits. */
  readonly size: number;
}

/** Limits the memory of bodies that are being read, in total and for each sender. */
export class BodiesUnderWay {
  readonly #limits: BodyLimits;
  readonly #underWay = new Map<string, number>();
  #total = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Wraps the body reader. @throws Problem rate_limited when too much is being read. */
  guard(read: RequestHandler, bodyOf: (request: Request) => Body): RequestHandler {
    return (request, response, next) => {
      const { deadlineMs } = this.#limits;
      const leave = this.#enter(bodyOf(request));
      const late = deadlineMs === undefined ? undefined : setTimeout(() => endConnection(request), deadlineMs);
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

  #enter({ sender, size }: Body): () => void {
    const ofSender = this.#underWay.get(sender) ?? 0;
    if (this.#total + size > this.#limits.total || ofSender + size > this.#limits.perSender) {
      throw new Problem('rate_limited', {
        detail: 'Too many request bodies are being received.',
        headers: { 'Retry-After': RETRY_AFTER_S, Connection: 'close' },
      });
    }
    this.#add(sender, size);
    return () => this.#add(sender, -size);
  }

  #add(sender: string, size: number): void {
    this.#total += size;
    const left = (this.#underWay.get(sender) ?? 0) + size;
    if (left === 0) this.#underWay.delete(sender);
    else this.#underWay.set(sender, left);
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
