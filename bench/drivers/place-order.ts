import { randomUUID } from 'node:crypto';
import type { Pool } from 'undici';
import * as z from 'zod';

const accepted = z.object({ id: z.string() });

/** Places an order through the API. @returns its id. @throws Error for any answer but 202. */
export async function placeOrder(
  api: Pool,
  { apiKey, packageId }: { readonly apiKey: string; readonly packageId: number },
): Promise<string> {
  const answer = await api.request({
    method: 'POST',
    path: '/v1/orders',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ package_id: packageId, external_order_id: `bench-${randomUUID()}` }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 202) throw new Error(`an order was answered with ${answer.statusCode}: ${text}`);
  return accepted.parse(JSON.parse(text)).id;
}
