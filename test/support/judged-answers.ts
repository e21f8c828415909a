import type * as z from 'zod';
import { judgeResult } from '#upstream/client/error-mapping.ts';
import type { HttpAnswer, HttpResult } from '#upstream/client/http.ts';
import { serviceOrder } from '#upstream/contract.ts';
import { readBody } from '#upstream/reading/answer.ts';

export const NOW = Date.UTC(2025, 5, 1, 12, 0, 0);
export const readAs = (answer: z.ZodType) => (body: unknown) => readBody({ answer, record: 'order' }, body, undefined);
/** Reads a body as an order. */
export const expected = { read: readAs(serviceOrder) };

export function answer(status: number, body: unknown = '', headers: HttpAnswer['headers'] = {}): HttpResult {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { kind: 'answer', answer: { status, headers, body: bytes } };
}

/** The result of a call that returns an order. */
export const judge = (result: HttpResult) => judgeResult(result, expected, NOW);
export const coded = (code: string) => ({ error: { code, message: 'whatever' } });
