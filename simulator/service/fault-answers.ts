import { once } from 'node:events';
import type { Response } from 'express';
import type { RequestFault } from '#simulator/behaviour/faults.ts';
import { type Answer, jsonAnswer } from '#simulator/service/errors.ts';
import { isArray, isObject, jsonFrom } from '#simulator/shapes/json.ts';

/**
 * How a call ends. `cut`: half of the body is sent. Without an answer: `reset`, `closed`, or silence until the caller
 * gives up.
 */
export type Ending = { readonly kind: 'answer' | 'cut'; readonly answer: Answer } | 'reset' | 'closed' | 'silence';

/** Does the work, unless the fault prevents it. */
export async function endingOf(fault: RequestFault | undefined, work: () => Promise<Answer>): Promise<Ending> {
  switch (fault?.kind) {
    case undefined:
    case 'latency':
      return { kind: 'answer', answer: await work() };
    case 'rate_limited':
      return refusal(429, 'rate_limited', 'Too many requests.', fault.retry_after);
    case 'server_error':
      if (fault.after_work) await work();
      return refusal(fault.status, 'internal_error', 'Something went wrong.', fault.retry_after);
    case 'answer': {
      const { status, body, headers, after_work: isLate } = fault;
      if (isLate) await work();
      return dictated({ status, body, headers });
    }
    case 'fields':
      return dictated(withFields(await work(), fault.set));
    case 'garbage_body':
      return dictated({ ...(await work()), body: '<html>{"id": \u0000' });
    case 'truncated_body':
      return { kind: 'cut', answer: await work() };
    case 'accepted_but_answer_lost':
      await work();
      return 'closed';
    case 'connection_reset':
      return 'reset';
    case 'hang':
      if (fault.after_work) await work();
      return 'silence';
  }
}

/** A refusal stays as it is. */
function withFields(answer: Answer, set: Readonly<Record<string, unknown>>): Answer {
  if (answer.status >= 300) return answer;
  const body = jsonFrom(answer.body);
  if (!isObject(body)) return answer;
  const { data: list } = body;
  const changed = isArray(list)
    ? { ...body, data: list.map((record) => (isObject(record) ? { ...record, ...set } : record)) }
    : { ...body, ...set };
  return { ...answer, body: JSON.stringify(changed) };
}

function dictated(answer: Answer): Ending {
  return { kind: 'answer', answer: { ...answer, verbatim: true } };
}

function refusal(status: number, code: string, message: string, retryAfter: number | string | undefined): Ending {
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  return { kind: 'answer', answer: jsonAnswer(status, { error: { code, message } }, headers) };
}

export async function perform(ending: Ending, response: Response): Promise<void> {
  if (response.destroyed) return;
  if (ending === 'reset') response.socket?.resetAndDestroy();
  else if (ending === 'closed') response.socket?.destroy();
  else if (ending === 'silence') {
    if (!response.closed) await once(response, 'close');
  } else {
    const { status, body, headers = {} } = ending.answer;
    const bytes = Buffer.from(body);
    // Node's own methods: Express would correct answers that a fault has made wrong.
    response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
    if (ending.kind === 'answer') return void response.end(bytes);
    await new Promise<void>((resolve) => {
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => resolve());
    });
    response.socket?.destroy();
  }
}
