import { createHmac, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { Driver, webhookDriver } from '#bench/drivers/protocol.ts';
import type { Limit, ScenarioResult } from '#bench/results.ts';
import { answersOk } from '#bench/support/children.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { compare, inTurn, latencies, medians, rates } from '#bench/support/figures.ts';
import { benchSecrets, createProductDatabase } from '#bench/support/product.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { DEFAULT_HEADER_PREFIX, serviceHeaders } from '#upstream/contract.ts';

const SIZES = {
  full: { rounds: 7, busy: { count: 3_000, atOnce: 64 }, alone: { count: 300, atOnce: 1 } },
  quick: { rounds: 2, busy: { count: 300, atOnce: 64 }, alone: { count: 30, atOnce: 1 } },
} as const;

const OURS = 'Our POST /webhooks/service: verify, read, encrypt, insert once, look for conflicts, answer';
const PLAIN = { id: 'plain_handler', measured: 'Express handler: verify, one INSERT per delivery (plain pg), answer' };
const NO_DATABASE = { id: 'no_database', measured: 'Express handler: verify, answer; nothing is stored' };

const LIMITS = {
  busyPlain: {
    of: 'ratio_to_peer',
    bound: 'at_least',
    amount: 1,
    reason:
      'Encrypting, hashing and the look for conflicts cost work; writing what arrives together in one commit must earn it back.',
  },
  busyNoDatabase: {
    of: 'ratio_to_peer',
    bound: 'at_least',
    amount: 0.3,
    reason: 'Storing for good may cost more than receiving, but receiving must stay a visible part of the whole.',
  },
  alonePlain: {
    of: 'ratio_to_peer',
    bound: 'at_most',
    amount: 2.5,
    reason:
      'A delivery that comes alone has no company to share a commit with, and needs a second statement: the look for conflicts.',
  },
} as const satisfies Record<string, Limit>;

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
    startPeer(context, secrets.webhook_secret, 'plain_ingest'),
    startPeer(context, secrets.webhook_secret),
  ]);
  const receivers = { ours, plain, noDatabase };
  await using driver = new Driver(webhookDriver);
  const deliver = (receiver: Receiver, load: { count: number; atOnce: number }) => async () => {
    const deliveryPrefix = randomBytes(6).toString('hex');
    const result = await driver.run({ ...load, url: receiver.url, secret: secrets.webhook_secret, deliveryPrefix });
    const stored = await receiver.countStored?.(deliveryPrefix);
    if (stored !== undefined && stored !== load.count)
      throw new Error(`${stored} of ${load.count} deliveries were stored`);
    return result;
  };

  for (const { url } of Object.values(receivers)) await requireRefusalOfForgery(url);
  context.say(
    `webhooks: ${rounds} rounds of ${busy.count} deliveries, ${busy.atOnce} at once, to three receivers in turn`,
  );
  const atOnce = await inTurn(
    mapValues(receivers, (receiver) => deliver(receiver, busy)),
    rounds,
  );
  context.say(`webhooks: ${rounds} rounds of ${alone.count} deliveries, one at a time`);
  const oneByOne = await inTurn(
    mapValues({ ours, plain }, (receiver) => deliver(receiver, alone)),
    rounds,
  );
  for (const receiver of Object.values(receivers)) await receiver.stop();

  const busyOurs = {
    measured: `${OURS}. ${busy.atOnce} senders at once, each waiting for its answer; every row counted afterwards.`,
    unit: 'deliveries/s',
    better: 'higher',
    ours: rates(atOnce.ours),
    details: latencies(atOnce.ours, 99),
  } as const;
  return [
    compare({
      ...busyOurs,
      id: 'webhook_ingest.busy.plain_handler',
      peer: { ...PLAIN, rounds: rates(atOnce.plain) },
      limit: LIMITS.busyPlain,
    }),
    compare({
      ...busyOurs,
      id: 'webhook_ingest.busy.no_database',
      peer: { ...NO_DATABASE, rounds: rates(atOnce.noDatabase) },
      limit: LIMITS.busyNoDatabase,
    }),
    compare({
      id: 'webhook_ingest.alone.plain_handler',
      measured: `${OURS}. One sender; median time to the answer.`,
      unit: 'ms',
      better: 'lower',
      ours: medians(oneByOne.ours),
      peer: { ...PLAIN, rounds: medians(oneByOne.plain) },
      limit: LIMITS.alonePlain,
      details: latencies(oneByOne.ours, 99),
    }),
  ];
}

async function startOurs(context: BenchContext, secrets: ReturnType<typeof benchSecrets>): Promise<Receiver> {
  const databaseUrl = await createProductDatabase(context, 'ingest');
  const api = await freePort();
  const ports = { api, worker: 0, simulator: 1, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
  const { api: environment } = productEnvironments(
    { ports, databaseUrl, temporalAddress: context.temporalAddress, simulatorData: '' },
    secrets,
    {},
  );
  const isReady = answersOk(`http://127.0.0.1:${api}/readyz`);
  const child = await context.children.start({ name: 'ingest-api', script: 'api/main.ts', environment, isReady });
  return {
    url: `http://127.0.0.1:${api}/webhooks/service`,
    countStored: (prefix) =>
      countRows(
        databaseUrl,
        `select count(*)::int as count from inbox where delivery_id like $1 and state = 'pending'`,
        prefix,
      ),
    stop: () => context.children.stop(child),
  };
}

/** @param database without it nothing is stored. */
async function startPeer(context: BenchContext, secret: string, database?: string): Promise<Receiver> {
  if (database !== undefined) await context.postgres.createDatabase(database);
  const databaseUrl = database === undefined ? undefined : context.postgres.url(database);
  const port = await freePort();
  const child = await context.children.start({
    name: database === undefined ? 'peer-without-database' : 'peer-plain-handler',
    script: 'bench/peers/webhook-handler.ts',
    // Development mode only differs in its handling of errors.
    environment: { NODE_ENV: 'production', PORT: String(port), WEBHOOK_SECRET: secret, DATABASE_URL: databaseUrl },
    isReady: answersOk(`http://127.0.0.1:${port}/healthz`),
  });
  return {
    url: `http://127.0.0.1:${port}/webhooks/service`,
    ...(databaseUrl !== undefined && {
      countStored: (prefix: string) =>
        countRows(databaseUrl, 'select count(*)::int as count from deliveries where delivery_id like $1', prefix),
    }),
    stop: async () => {
      await child.stop(5_000);
    },
  };
}

async function countRows(url: string, sql: string, prefix: string): Promise<number> {
  const { rows } = await withClient(url, (client) => client.query(sql, [`${prefix}-%`]));
  return z.tuple([z.object({ count: z.int() })]).parse(rows)[0].count;
}

function mapValues<Name extends string, From, To>(
  values: Readonly<Record<Name, From>>,
  map: (value: From) => To,
): Record<Name, To> {
  const entries = Object.entries(values) as [Name, From][];
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value)])) as Record<Name, To>;
}

const HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

/** @throws Error when it answers 200 to another secret's signature. */
async function requireRefusalOfForgery(url: string): Promise<void> {
  const body = '{"event":"ping"}';
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const forged = createHmac('sha256', 'not the secret').update(`${timestamp}.${body}`).digest('hex');
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      [HEADERS.event]: 'ping',
      [HEADERS.delivery]: 'forged',
      [HEADERS.timestamp]: timestamp,
      [HEADERS.signature]: `v1=${forged}`,
    },
  });
  if (answer.status !== 401) throw new Error(`a forged delivery was answered with ${answer.status} instead of 401`);
}
