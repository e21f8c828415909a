import { describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { newId } from '#db/connection/ids.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { findRunning, startWork, type WorkStart } from '#temporal/start-work.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openNamespace } from '#test/support/servers/temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { workflowId } from '#workflows/messages.ts';

quietRuntime();

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const { client } = disposedAtEnd(await openNamespace(keyRing));

const orderOf = (id: string): WorkStart => ({
  kind: 'order',
  id,
  policy: DEFAULT_POLICY.purchase,
  packageId: 17,
  externalReference: id,
  environment: 'sandbox',
});
const isEnded = async () => true;

describe('the query for running workflows', () => {
  it('accepts as many ids in one call as the sweeper sends, and returns exactly the running ones', async () => {
    const ids = Array.from({ length: DEFAULT_POLICY.sweep.listIds }, () => newId('order'));
    const [running, terminated] = ids;
    for (const id of [running!, terminated!]) await startWork(client, orderOf(id), { isEnded });
    await client.workflow.getHandle(workflowId({ kind: 'order', id: terminated! })).terminate('gone');
    const work = ids.map((id) => ({ kind: 'order', id }) as const);
    // Visibility is eventually consistent.
    const found = await waitFor('visibility shows one', async () => {
      const some = await findRunning(client, work);
      return some.size === 1 && some;
    });
    expect([...found]).toEqual([running]);
  });
});
