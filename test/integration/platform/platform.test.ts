import { Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { createTestDatabase } from '#test/support/servers/database.ts';
import { startOwnPostgres, startOwnTemporal } from '#test/support/servers/own-servers.ts';
import { createNamespace, temporalAddress } from '#test/support/servers/temporal.ts';

describe('the servers of a test run', () => {
  it('give each test its own migrated database', async () => {
    await using first = await createTestDatabase();
    await using second = await createTestDatabase();
    expect(first.name).not.toBe(second.name);
    for (const { url } of [first, second]) {
      const tables = await withClient(url, async (client) => {
        const found = await client.query<{ name: string }>(
          "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
        );
        return found.rows.map(({ name }) => name);
      });
      expect(tables).toContain('orders');
    }
  });

  it('give each test a Temporal namespace that is usable at once', async () => {
    const namespace = await createNamespace();
    const connection = await Connection.connect({ address: temporalAddress() });
    try {
      const found = await connection.workflowService.listWorkflowExecutions({ namespace });
      expect(found.executions).toEqual([]);
    } finally {
      await connection.close();
    }
  });
});

describe('a separate PostgreSQL server of a test', () => {
  it('keeps committed data through a kill and restarts at the same address', async () => {
    await using postgres = await startOwnPostgres();
    await withClient(postgres.url, (client) => client.query('CREATE TABLE kept AS SELECT 42 AS value'));
    await postgres.kill();
    await expect(withClient(postgres.url, (client) => client.query('SELECT 1'))).rejects.toThrow('ECONNREFUSED');
    await postgres.start();
    const kept = await withClient(postgres.url, (client) => client.query<{ value: number }>('SELECT value FROM kept'));
    expect(kept.rows).toEqual([{ value: 42 }]);
  });
});

describe('a separate Temporal server of a test', () => {
  it('keeps its namespaces through a kill and restarts at the same address', async () => {
    await using temporal = await startOwnTemporal();
    const namespace = await createNamespace(temporal.address);
    await temporal.kill();
    await temporal.start();
    const connection = await Connection.connect({ address: temporal.address });
    try {
      const found = await connection.workflowService.describeNamespace({ namespace });
      expect(found.namespaceInfo?.name).toBe(namespace);
    } finally {
      await connection.close();
    }
  });
});
