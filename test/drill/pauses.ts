import { postOnce } from '#test/support/api/keys.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

const PAUSES = '/v1/purchase-gate/pauses';

export async function pausePurchases({ api }: Stack): Promise<void> {
  const answer = await postOnce(api, PAUSES, { reason: 'The database is backed up or restored.' });
  if (answer.status !== 201) throw new Error(`nothing was paused: ${answer.status} ${answer.text}`);
}

/** Ends the pause in force, also that of a restored database. Waits until the API reads the database. */
export async function endPause({ api }: Stack): Promise<void> {
  const id = await waitFor('the API shows the pause', async () => (await api.get(PAUSES)).textAt('data', 0, 'id'));
  const answer = await api.delete(`${PAUSES}/${id}?reason=Made`);
  if (answer.status !== 200) throw new Error(`the pause was not ended: ${answer.status} ${answer.text}`);
}
