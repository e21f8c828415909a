import { once } from 'node:events';
import type { Response } from 'express';
import type { RequestFault } from '#simulator/behaviour/faults.ts';
import { jsonAnswer, type Answer } from '#simulator/service/errors.ts';

export type Ending =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'truncated'; readonly answer: Answer }
  | { readonly kind: 'reset' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'silence' };

export interface FaultPlan {
  readonly arrivalMs: number;
  readonly workMs: number;
  readonly answerMs: number;
  readonly instead: Ending | undefined;
  readonly after: (answer: Answer) => Ending;
}

/** Latencies are added; at most one other fault applies. */
export function planOf(faults: readonly RequestFault[]): FaultPlan {
  const latency = (at: 'arrival' | 'work' | 'answer'): number =>
    faults.reduce((total, fault) => total + (fault.kind === 'latency' && fault.at === at ? fault.ms : 0), 0);
  const other = faults.find(({ kind }) => kind !== 'latency');
  return {
    arrivalMs: latency('arrival'),
    workMs: latency('work'),
    answerMs: latency('answer'),
    instead: other === undefined || isAfterWork(other) ? undefined : endingOf(other, undefined),
    after: (answer) => (other === undefined ? { kind: 'answer', answer } : endingOf(other, answer)),
  };
}

export async function perform(ending: Ending, response: Response): Promise<number | null> {
  if (response.destroyed) return null;
  switch (ending.kind) {
    case 'answer':
      write(response, ending.answer);
      return ending.answer.status;
    case 'truncated':
      await writeHalf(response, ending.answer);
      return ending.answer.status;
    case 'reset':
      response.socket?.resetAndDestroy();
      return null;
    case 'closed':
      response.socket?.destroy();
      return null;
    case 'silence':
      if (!response.closed) await once(response, 'close');
      return null;
  }
}

function isAfterWork(fault: RequestFault): boolean {
  switch (fault.kind) {
    case 'accepted_but_answer_lost':
    case 'truncated_body':
    case 'garbage_body':
    case 'fields':
      return true;
    case 'server_error':
    case 'answer':
    case 'hang':
      return fault.after_work;
    case 'latency':
    case 'rate_limited':
    case 'connection_reset':
      return false;
  }
}

function endingOf(fault: RequestFault, worked: Answer | undefined): Ending {
  switch (fault.kind) {
    case 'rate_limited':
      return refusal(429, 'rate_limited', 'Too many requests.', fault.retry_after);
    case 'server_error':
      return refusal(fault.status, 'internal_error', 'Something went wrong.', fault.retry_after);
    case 'answer':
      return dictated({ status: fault.status, body: fault.body, headers: fault.headers });
    case 'fields':
      return dictated(withFields(worked ?? jsonAnswer(200, {}), fault.set));
    case 'garbage_body':
      return dictated({ ...(worked ?? jsonAnswer(200, {})), body: '<html>{"id": \u0000' });
    case 'truncated_body':
      return { kind: 'truncated', answer: worked ?? jsonAnswer(200, {}) };
    case 'accepted_but_answer_lost':
      return { kind: 'closed' };
    case 'connection_reset':
      return { kind: 'reset' };
    case 'hang':
      return { kind: 'silence' };
    case 'latency':
      return { kind: 'answer', answer: worked ?? jsonAnswer(200, {}) };
  }
}

/** A refusal stays as it is. */
function withFields(answer: Answer, set: Readonly<Record<string, unknown>>): Answer {
  if (answer.status >= 300) return answer;
  const body: unknown = JSON.parse(answer.body);
  if (!isRecord(body)) return answer;
  const { data: list } = body;
  const changed = Array.isArray(list)
    ? { ...body, data: list.map((record: unknown) => (isRecord(record) ? { ...record, ...set } : record)) }
    : { ...body, ...set };
  return { ...answer, body: JSON.stringify(changed) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function dictated(answer: Answer): Ending {
  return { kind: 'answer', answer: { ...answer, verbatim: true } };
}

function refusal(status: number, code: string, message: string, retryAfter: number | string | undefined): Ending {
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return { kind: 'answer', answer: jsonAnswer(status, { error: { code, message } }, headers) };
}

function write(response: Response, { status, body, headers = {} }: Answer): void {
  // Node's own methods: Express would correct answers that a fault has made wrong.
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

/** Announces the length of the whole body, and sends half of it. */
async function writeHalf(response: Response, { status, body, headers = {} }: Answer): Promise<void> {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  await new Promise<void>((resolve) => {
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => resolve());
  });
  response.socket?.destroy();
}
