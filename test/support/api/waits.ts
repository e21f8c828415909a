import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';

/** The number of callers that wait for an answer, or that read a stream, by the metrics of the process. */
export async function waitingCallers(by: HttpClient, what: 'answer' | 'stream' = 'answer'): Promise<number> {
  const { text } = await by.get('/metrics');
  return Number(new RegExp(`^reseller_waiting\\{for="${what}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

/** The headers of an answer about its wait. */
export const waitHeaders = ({ headers }: HttpAnswer) => [headers.get('preference-applied'), headers.get('retry-after')];
