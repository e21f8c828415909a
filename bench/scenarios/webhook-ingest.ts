import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Driver, type Load } from '#bench/drivers/protocol.ts';
import { compare, inTurn, latencies, medians, rates, type ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { benchSecrets, createProductDatabase, startApi, startPeer } from '#bench/support/product.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { signWebhook } from '#crypto/webhook-signatures.ts';
import { DEFAULT_HEADER_PREFIX, serviceHeaders } from '#upstream/contract.ts';

const SIZES = {
  full: { rounds: 7, busy: { count: 3_000, atOnce: 64 }, alone: { count: 300, atOnce: 1 } },
  quick: { rounds: 2, busy: { count: 300, atOnce: 64 }, alone: { count: 30, atOnce: 1 } },
} as const;

const OURS = 'Our POST /webhooks/service: verify, read, encrypt, insert once, look for conflicts, answer';
const PLAIN = { id: 'plain_handler', measured: 'Express handler: verify, one INSERT per delivery (plain pg), answer' };
const NO_DATABASE = { id: 'no_database', measured: 'Express handler: verify, answer; nothing is stored' };

interface Receiver {
  readonly url: string;
  /** Absent where nothing is stored. */
  readonly countStored?: (prefix: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function measureWebhookIngest(context: BenchContext): Promise<ScenarioResult[]> {
  const { rounds, busy, alone } = SIZES[context.mode];
  const secrets = benchSecrets();
  const [ours, plain, noDatabase] = await Promise.all([
    startOurs(context, secrets),
    startHandler(context, secrets.webhook_secret, 'plain_ingest'),
    startHandler(context, secrets.webhook_secret),
  ]);
  const receivers = [ours, plain, noDatabase];
  await using driver = new Driver('webhooks');
  const deliver = (receiver: Receiver, load: Load) => async () => {
    const deliveryPrefix = randomBytes(6).toString('hex');
    const result = await driver.run({ ...load, url: receiver.url, secret: secrets.webhook_secret, deliveryPrefix });
    const stored = await receiver.countStored?.(deliveryPrefix);
    if (stored === undefined || stored === load.count) return result;
    throw new Error(`${stored} of ${load.count} deliveries were stored`);
  };

  for (const { url } of receivers) await requireRefusalOfForgery(url);
  const each = `${rounds} rounds of ${busy.count} deliveries, ${busy.atOnce} at once`;
  context.say(`webhooks: ${each}, to three receivers in turn`);
  const toAll = { ours: deliver(ours, busy), plain: deliver(plain, busy), noDatabase: deliver(noDatabase, busy) };
  const atOnce = await inTurn(toAll, rounds);
  context.say(`webhooks: ${rounds} rounds of ${alone.count} deliveries, one at a time`);
  const oneByOne = await inTurn({ ours: deliver(ours, alone), plain: deliver(plain, alone) }, rounds);
  for (const { stop } of receivers) await stop();

  const busyOurs = {
    measured: `${OURS}. ${busy.atOnce} senders at once, each waiting for its answer; every row counted afterwards.`,
    unit: 'deliveries/s',
    better: 'higher',
    ours: rates(atOnce.ours),
    details: latencies(atOnce.ours, 99),
  } as const;
  return [
    compare({ ...busyOurs, id: 'webhook_ingest.busy.plain_handler', peer: { ...PLAIN, rounds: rates(atOnce.plain) } }),
    compare({
      ...busyOurs,
      id: 'webhook_ingest.busy.no_database',
      peer: { ...NO_DATABASE, rounds: rates(atOnce.noDatabase) },
    }),
    compare({
      id: 'webhook_ingest.alone.plain_handler',
      measured: `${OURS}. One sender; median time to the answer.`,
      unit: 'ms',
      better: 'lower',
      ours: medians(oneByOne.ours),
      peer: { ...PLAIN, rounds: medians(oneByOne.plain) },
      details: latencies(oneByOne.ours, 99),
    }),
  ];
}

async function startOurs(context: BenchContext, secrets: ReturnType<typeof benchSecrets>): Promise<Receiver> {
  const databaseUrl = await createProductDatabase(context, 'ingest');
  const { origin, stop } = await startApi(context, 'ingest-api', { databaseUrl, secrets });
  const stored = `select count(*)::int as count from inbox where delivery_id like $1 and state = 'pending'`;
  return { url: `${origin}/webhooks/service`, countStored: (prefix) => countRows(databaseUrl, stored, prefix), stop };
}

/** @param database without it nothing is stored. */
async function startHandler(context: BenchContext, secret: string, database?: string): Promise<Receiver> {
  if (database !== undefined) await context.postgres.createDatabase(database);
  const databaseUrl = database === undefined ? undefined : context.postgres.url(database);
  const name = database === undefined ? 'peer-without-database' : 'peer-plain-handler';
  const environment = { WEBHOOK_SECRET: secret, DATABASE_URL: databaseUrl };
  const { origin, stop } = await startPeer(context, name, 'bench/peers/webhook-handler.ts', environment);
  const stored = 'select count(*)::int as count from deliveries where delivery_id like $1';
  return {
    url: `${origin}/webhooks/service`,
    ...(databaseUrl !== undefined && { countStored: (prefix: string) => countRows(databaseUrl, stored, prefix) }),
    stop,
  };
}

async function countRows(url: string, sql: string, prefix: string): Promise<number> {
  const { rows } = await withClient(url, (client) => client.query(sql, [`${prefix}-%`]));
  return z.tuple([z.object({ count: z.int() })]).parse(rows)[0].count;
}

const HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

/** @throws Error when it answers 200 to another secret's signature. */
async function requireRefusalOfForgery(url: string): Promise<void> {
  const body = '{"event":"ping"}';
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      [HEADERS.event]: 'ping',
      [HEADERS.delivery]: 'forged',
      [HEADERS.timestamp]: timestamp,
      [HEADERS.signature]: signWebhook('not the secret', timestamp, Buffer.from(body)),
    },
  });
  if (answer.status !== 401) throw new Error(`a forged delivery was answered with ${answer.status} instead of 401`);
}
