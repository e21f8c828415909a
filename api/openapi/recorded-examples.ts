import { readFileSync } from 'node:fs';
import * as z from 'zod';

const exchange = z.object({
  operation: z.string(),
  request: z.object({
    method: z.string(),
    path: z.string(),
    params: z.record(z.string(), z.string()),
    body: z.unknown().optional(),
  }),
  response: z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown().optional() }),
});

/** A call and its answer, recorded against the simulator (`npm run record:examples`). */
export type RecordedExchange = z.output<typeof exchange>;

/** All recorded exchanges, in the order of the calls. */
export const recordedExchanges: readonly RecordedExchange[] = z
  .array(exchange)
  .parse(JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')));

/** The first call of an operation that ended with this status, or the first that succeeded. */
export function recordedExchange(operationId: string, status?: number): RecordedExchange | undefined {
  return recordedExchanges.find(
    ({ operation, response }) =>
      operation === operationId && (status === undefined ? response.status < 400 : response.status === status),
  );
}

const problem = z.looseObject({ code: z.string(), type: z.string() });

/** The first answer with this problem. */
export function recordedProblem(code: string): unknown {
  return recordedExchanges
    .map(({ response }) => response.body)
    .find((body) => problem.safeParse(body).data?.code === code);
}
