import { availableParallelism, loadavg, totalmem } from 'node:os';
import { Connection } from '@temporalio/client';
import type pg from 'pg';
import * as z from 'zod';
import type { BenchResults } from '#bench/results.ts';
import type { BenchServers } from '#bench/support/servers.ts';
import { median, rounded } from '#bench/support/statistics.ts';
import { withClient } from '#cli/embedded/postgres.ts';

const SINGLE_INSERTS = 200;
const GIB = 2 ** 30;

/** What one needs to know of a machine to read its figures, and nothing that names it. */
export function machineFacts(): BenchResults['machine'] {
  return {
    cores: availableParallelism(),
    memory_gib: rounded(totalmem() / GIB),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    load_average_at_start: rounded(loadavg()[0] ?? 0),
  };
}

/** The servers that all contestants share, as they say themselves. */
export async function serverFacts({ postgres, temporalAddress }: BenchServers): Promise<BenchResults['servers']> {
  const ofPostgres = await withClient(postgres.url('postgres'), async (client) => ({
    postgresql: await shown(client, 'server_version'),
    fsync: await shown(client, 'fsync'),
    synchronous_commit: await shown(client, 'synchronous_commit'),
    single_insert_ms: rounded(await singleInsertMs(client)),
  }));
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { ...ofPostgres, temporal: serverVersion };
  } finally {
    await connection.close();
  }
}

async function shown(client: pg.Client, setting: string): Promise<string> {
  const { rows } = await client.query(`select current_setting('${setting}') as value`);
  return z.tuple([z.object({ value: z.string() })]).parse(rows)[0].value;
}

async function singleInsertMs(client: pg.Client): Promise<number> {
  await client.query('create table single_inserts (id bigint primary key)');
  const took: number[] = [];
  for (let id = 1; id <= SINGLE_INSERTS; id += 1) {
    const started = performance.now();
    await client.query('insert into single_inserts values ($1)', [id]);
    took.push(performance.now() - started);
  }
  await client.query('drop table single_inserts');
  return median(took);
}
