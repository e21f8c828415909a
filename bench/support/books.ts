import { sql } from 'drizzle-orm';
import * as z from 'zod';
import type { Product } from '#bench/support/product.ts';

const rows = z.tuple([z.object({ orders: z.int(), esims: z.int(), debits: z.int() })]);
const state = z.object({ environments: z.object({ sandbox: z.object({ ledger: z.object({ debits: z.int() }) }) }) });

/**
 * Looks whether the orders that were measured really were carried through: each completed, with an eSIM, and paid once,
 * in our books and in the service's.
 *
 * @param expected how many were placed in all.
 * @throws Error when a number differs.
 */
export async function requireBooks(product: Product, expected: number): Promise<void> {
  const answer = await product.database.run((db) =>
    db.execute(sql`select
      (select count(*)::int from orders where status = 'completed') as orders,
      (select count(*)::int from esims) as esims,
      (select count(*)::int from journal where direction = 'debit' and cause_kind = 'attempt') as debits`),
  );
  const [ours] = rows.parse(answer.rows);
  const service = state.parse(await (await fetch(`${product.simulatorUrl}/simulator/state`)).json());
  const found = { ...ours, debitsOfService: service.environments.sandbox.ledger.debits };
  if (Object.values(found).some((count) => count !== expected)) {
    throw new Error(`${expected} orders were placed, but there are: ${JSON.stringify(found)}`);
  }
}
