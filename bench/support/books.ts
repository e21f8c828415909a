import * as z from 'zod';
import type { Contestant } from '#bench/contestants/contestant.ts';
import { withClient } from '#cli/embedded/postgres.ts';

const rows = z.tuple([z.object({ orders: z.int(), esims: z.int(), debits: z.int() })]);
const state = z.object({ environments: z.object({ sandbox: z.object({ ledger: z.object({ debits: z.int() }) }) }) });

/**
 * Looks whether the orders that were measured really were carried through: each completed, with an eSIM, and paid once,
 * in the contestant's books and in the service's.
 *
 * @param expected how many were placed in all.
 * @throws Error when a number differs.
 */
export async function requireBooks(contestant: Contestant, expected: number): Promise<void> {
  const answer = await withClient(contestant.databaseUrl, async (client) =>
    client.query<object>(`select /* bench */
      (select count(*)::int from orders where status = 'completed') as orders,
      (select count(*)::int from esims) as esims,
      (select count(*)::int from journal where direction = 'debit' and cause_kind = 'attempt') as debits`),
  );
  const [books] = rows.parse(answer.rows);
  const service = state.parse(await (await fetch(`${contestant.simulatorUrl}/simulator/state`)).json());
  const found = { ...books, debitsOfService: service.environments.sandbox.ledger.debits };
  if (Object.values(found).some((count) => count !== expected)) {
    throw new Error(`${contestant.id}: ${expected} orders were placed, but there are: ${JSON.stringify(found)}`);
  }
}
