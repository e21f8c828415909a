import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ResellerClient } from '#clients/typescript/src/index.ts';
import { apiScopes } from '#db/access/api-keys.ts';
import { newKey } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

const stack = disposedAtEnd(
  await startStack({ environment: RARE_UPKEEP, simulator: { SIMULATOR_PROCESSING_DELAY: '300ms' } }),
);
const client = new ResellerClient({ baseUrl: stack.api.baseUrl, apiKey: stack.apiKey });

const reference = () => `client-${randomUUID()}`;
/** How an example is run with a key. */
const runWith = (key: string) => ({
  cwd: PROJECT,
  env: { ...process.env, RESELLER_URL: stack.api.baseUrl, RESELLER_API_KEY: key },
});

describe('the TypeScript client', () => {
  it('finds what a customer has, and a page of its own references', async () => {
    const customer_reference = `${reference()} & sons`;
    const references = [reference(), reference()];
    const metadata = { shop: 'Köln + Bonn', desk: reference() };
    for (const external_order_id of references)
      await client.createOrder({ package_id: 1001, external_order_id, customer_reference, metadata });
    const found = [{ customer_reference }, { external_order_id: references }, { metadata }].map((query) =>
      client.listOrders(query).take(3),
    );
    for (const orders of await Promise.all(found))
      expect(orders.map((order) => order.external_order_id).toSorted()).toEqual(references.toSorted());
  });

  it('runs the example shop, which buys, waits, recharges, prints the price, and buys nothing twice', async () => {
    const head = readFileSync(join(PROJECT, 'clients/typescript/examples/shop.ts'), 'utf8').split('*/')[0] ?? '';
    // A key with exactly the scopes that the example lists.
    const scopes = apiScopes.filter((scope) => head.includes(scope));
    const { key } = await newKey({ database: stack.database, baseUrl: stack.api.baseUrl }, { scopes });
    const sale = reference();
    const picture = join(temporaryFolder('shop'), 'sale.png');
    const shop = () => run(process.execPath, ['clients/typescript/examples/shop.ts', sale, picture], runWith(key));
    const { stdout } = await shop();
    expect(stdout).toMatch(/^Order +ord_\w+ is completed, charged \d+\.\d+ USD$/m);
    expect(stdout).toMatch(/^LPA +LPA:1\$smdp\.simulator\.example\$/m);
    expect(stdout).toMatch(/^iPhone +https:\/\/esimsetup\.apple\.com\//m);
    expect(stdout).toContain(`QR code   ${picture}\n`);
    expect(readFileSync(picture).subarray(1, 4).toString()).toBe('PNG');
    expect(stdout).toMatch(/^Top-up +top_\w+ is completed, .+, charged \d+\.\d+ USD$/m);
    expect(stdout).toMatch(/^Usage +\d+ MB of \d+$/m);
    const [order] = await client.listOrders({ external_order_id: sale }).take(1);
    expect(order?.max_price).toEqual(order?.charged);
    expect(await client.getEsimQrSvg(order?.esim_id ?? '')).toMatch(/^<svg/);
    expect((await shop()).stdout).toBe(stdout);
  });

  it('runs the example that watches events, which continues with missed events', async () => {
    const place = join(temporaryFolder('watch'), 'watched');
    const { next_cursor: end } = await client.listEvents({ created_after: '9990-01-01T00:00:00Z' }).page();
    writeFileSync(place, end ?? '');
    const bought = async () =>
      (await client.waitFor(await client.createOrder({ package_id: 9001, external_order_id: reference() }))).id;
    /** Its output until it reports this order as completed. */
    const watched = async (id: string): Promise<string> => {
      const watcher = spawn(process.execPath, ['clients/typescript/examples/watch-events.ts', place], {
        ...runWith(stack.apiKey),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      watcher.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
      try {
        await waitFor('the end of the order is reported', () => said.includes(`order.completed  /v1/orders/${id}\n`), {
          context: () => said,
        });
        await waitFor('it is written down how far it is', async () => {
          const left = await client.listEvents({ cursor: readFileSync(place, 'utf8') }).take(1_000);
          return !left.some(({ subject }) => subject.id === id);
        });
      } finally {
        watcher.kill();
      }
      return said;
    };
    const first = await bought();
    expect(await watched(first)).toContain(`order.accepted  /v1/orders/${first}\n`);
    const second = await bought();
    const said = await watched(second);
    expect(said).toContain(`order.accepted  /v1/orders/${second}\n`);
    expect(said).not.toContain(first);
  });
});
