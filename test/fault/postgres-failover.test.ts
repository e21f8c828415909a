/** Why the replica must be synchronous. The drill of a cluster (`cluster.test.ts`) has a synchronous one. */
import { describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { startPostgresPair } from '#test/support/servers/postgres-pair.ts';
import { waitFor } from '#test/support/wait-for.ts';

async function rowsOf(url: string, statement: string): Promise<Record<string, unknown>[]> {
  return withClient(url, async (client) => (await client.query<Record<string, unknown>>(statement)).rows);
}

describe('a failover to a replica that was away', () => {
  it('loses an acknowledged commit when the replica is asynchronous', async () => {
    await using pair = await startPostgresPair({ synchronous: false });
    await rowsOf(pair.url, 'CREATE TABLE intents (id int)');
    await waitFor('the replica has caught up', async () => {
      const [row] = await rowsOf(pair.url, 'SELECT replay_lsn = pg_current_wal_lsn() AS is FROM pg_stat_replication');
      return row?.['is'] === true;
    });
    await pair.detachReplica();
    await rowsOf(pair.url, 'INSERT INTO intents VALUES (1)');
    await pair.failOver();
    expect(await rowsOf(pair.url, 'SELECT id FROM intents')).toEqual([]);
  });

  it('acknowledges no commit that it would lose when the replica is synchronous', async () => {
    await using pair = await startPostgresPair();
    await rowsOf(pair.url, 'CREATE TABLE intents (id int)');
    await rowsOf(pair.url, 'INSERT INTO intents VALUES (1)');
    await pair.detachReplica();
    const second = rowsOf(pair.url, 'INSERT INTO intents VALUES (2)').then(
      () => 'acknowledged',
      () => 'no answer',
    );
    await waitFor('the commit waits for the replica', async () => {
      const waiting = await rowsOf(pair.url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      return waiting.length > 0;
    });
    await pair.failOver();
    expect(await second).toBe('no answer');
    expect(await rowsOf(pair.url, 'SELECT id FROM intents')).toEqual([{ id: 1 }]);
  });
});
