/** Calls to the service by our client, or by bare undici, and the CPU time that they took in this process. */
import { Pool } from 'undici';
import type * as z from 'zod';
import { serviceCallDriver } from '#bench/drivers/protocol.ts';
import { closedLoop, serve } from '#bench/drivers/serve.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { SharedToken, TokenStore } from '#upstream/client/session.ts';
import { openService } from '#upstream/service.ts';

type Task = z.output<typeof serviceCallDriver.task>;

/** One contestant, kept from round to round as a process keeps it. */
interface Contestant {
  readonly packages: () => Promise<void>;
  readonly order: () => Promise<void>;
}

const REFERENCE = 'bench-1';
const KEY = 'bench-key-1';
const PACKAGE_ID = 1_001;
const BODY = orderRequestBytes({ packageId: PACKAGE_ID, reference: REFERENCE });

const contestants = new Map<string, Contestant>();

serve(serviceCallDriver, async (task) => {
  const name = `${task.client} ${task.origin}`;
  const contestant = contestants.get(name) ?? open(task);
  contestants.set(name, contestant);
  const before = process.cpuUsage();
  const { elapsedMs } = await closedLoop(task, contestant[task.call]);
  const { user, system } = process.cpuUsage(before);
  return { elapsedMs, cpuUsPerCall: (user + system) / task.count };
});

function open({ client, origin }: Task): Contestant {
  return client === 'ours' ? ours(origin) : undici(origin);
}

function ours(origin: string): Contestant {
  const { client } = openService({
    baseUrl: `${origin}${BASE_PATH}`,
    mode: 'sandbox',
    email: 'bench@example.com',
    password: 'bench',
    deviceName: 'bench',
    capabilities: ALL_CAPABILITIES,
    deadlineMs: 10_000,
    tokens: memoryTokens(),
    now: Date.now,
  });
  return {
    packages: async () => {
      const result = await client.listPackages();
      if (!result.ok || result.value.items.length !== 50) throw new Error('the packages did not come');
    },
    order: async () => {
      const result = await client.createOrder({
        idempotencyKey: KEY,
        body: BODY,
        reference: REFERENCE,
        packageId: PACKAGE_ID,
      });
      if (!result.ok || result.value.status !== 'completed') throw new Error('the order was not completed');
    },
  };
}

/** What one writes without a client: send, look at the status, parse. Nothing is checked, nothing has a deadline. */
function undici(origin: string): Contestant {
  const shared = new Pool(origin, { connections: 50, pipelining: 1 });
  // Without pipelining undici closes each connection after its one request, as our client has it for purchases.
  const own = new Pool(origin, { connections: 50, pipelining: 0 });
  const authorization = 'Bearer canned-token';
  const json = async (pool: Pool, request: Parameters<Pool['request']>[0]): Promise<unknown> => {
    const { statusCode, body } = await pool.request(request);
    if (statusCode > 299) throw new Error(`answered with ${statusCode}`);
    return body.json();
  };
  const address = `${BASE_PATH}/sandbox`;
  return {
    packages: async () => {
      const page = (await json(shared, {
        method: 'GET',
        path: `${address}/packages?limit=100`,
        headers: { authorization },
      })) as { data: unknown[] };
      if (page.data.length !== 50) throw new Error('the packages did not come');
    },
    order: async () => {
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': KEY };
      const order = (await json(own, { method: 'POST', path: `${address}/orders`, headers, body: BODY })) as {
        status: string;
      };
      if (order.status !== 'completed') throw new Error('the order was not completed');
    },
  };
}

function memoryTokens(): TokenStore {
  let stored: SharedToken | undefined;
  return {
    read: async () => (stored === undefined ? undefined : { version: stored.version, token: stored }),
    replace: async (replacedVersion, token) => {
      const version = (replacedVersion ?? 0) + 1;
      stored = { ...token, version };
      return version;
    },
  };
}
