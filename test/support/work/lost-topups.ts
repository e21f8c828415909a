import { sql } from 'drizzle-orm';
import type { SoldTopup } from '#test/support/network/simulator-admin.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';

/** The top-ups of an eSIM at the service. @param esimId our id. */
export async function rechargesAtService(desk: OrderDesk, esimId: string): Promise<SoldTopup[]> {
  const esim = await desk.esimAtService(esimId);
  return (await desk.simulator.topups()).filter(({ esim_id: id }) => id === esim);
}

/** The service rejects look-ups and repeated keys, and the answer to the next top-up is lost. */
export async function loseTopupAnswer({ simulator }: OrderDesk): Promise<void> {
  for (const endpoint of ['getTopup', 'listTopups'] as const)
    await simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
  await simulator.dialect('conflicts');
  await simulator.onRequest('createTopup', { kind: 'accepted_but_answer_lost' });
}

/** Whether a report about a resource of the service is in the inbox with this state. */
export async function isReportStored(
  { database }: Stack,
  serviceId: string,
  state: 'pending' | 'unmatched',
): Promise<boolean> {
  const { rows } = await database.run((db) =>
    db.execute(sql`select 1 from inbox where service_id = ${serviceId} and state = ${state}`),
  );
  return rows.length > 0;
}
